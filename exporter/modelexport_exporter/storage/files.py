"""The `Store` of `file://` URIs: keys are absolute paths of this machine, used in place."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.errors import from_os_error
from modelexport_exporter.storage.store import Role
from modelexport_exporter.storage.tree import Tree
from modelexport_exporter.storage.tree_store import TreeStore


class FileStore(TreeStore):
    """Files under their absolute paths."""

    def __init__(self, role: Role) -> None:
        super().__init__(Tree(Path("/"), confined=False), role)

    def uri(self, key: str) -> str:
        """Return the file:// URI of a path."""
        return f"file://{quote(key)}"

    def local_path(self, key: str) -> Path | None:
        """Return the path itself."""
        return Path(key)

    def failure_of(self, error: OSError, key: str) -> ExportFailure:
        """Return the failure for an error of the file system."""
        return from_os_error(error, self._role, key)
