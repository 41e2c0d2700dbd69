"""Labels and annotations on the ModelExports of triggers, by which the operator knows them."""

from __future__ import annotations

from modelexport_api import GROUP

TRIGGER_LABEL = f"{GROUP}/trigger"
TRIGGER_UID_LABEL = f"{GROUP}/trigger-uid"
"""The trigger that created it. The watch on the children selects by the uid."""

SOURCE_UID_LABEL = f"{GROUP}/source-uid"
SOURCE_KIND_ANNOTATION = f"{GROUP}/source-kind"
SOURCE_NAME_ANNOTATION = f"{GROUP}/source-name"
"""The object whose completion it was."""

COMPLETION_ANNOTATION = f"{GROUP}/completion"
"""The completion's entry in the ledger."""
