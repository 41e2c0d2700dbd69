"""The types that operator, exporter, CLI and CRD agree on. pydantic only."""

from __future__ import annotations

GROUP = "modelexport.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
KIND = "ModelExport"
PLURAL = "modelexports"
