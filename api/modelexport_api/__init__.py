"""The API types, shared by operator, exporter, CLI and CRDs. Depends on pydantic only."""

from __future__ import annotations

GROUP = "modelexport.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
KIND = "ModelExport"
PLURAL = "modelexports"
