"""Labels and annotations that identify the ModelExports of triggers."""

from __future__ import annotations

from modelexport_api import GROUP

TRIGGER_LABEL = f"{GROUP}/trigger"
TRIGGER_UID_LABEL = f"{GROUP}/trigger-uid"
"""The trigger that created the ModelExport. The watch on ModelExports selects by the uid."""

SOURCE_UID_LABEL = f"{GROUP}/source-uid"
SOURCE_KIND_ANNOTATION = f"{GROUP}/source-kind"
SOURCE_NAME_ANNOTATION = f"{GROUP}/source-name"
"""The object that completed."""

COMPLETION_ANNOTATION = f"{GROUP}/completion"
"""The completion's entry in the ledger."""
