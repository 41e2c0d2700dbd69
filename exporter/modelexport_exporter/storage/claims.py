"""The `Store` of `pvc://` URIs: keys are paths in the mounted volume of a PersistentVolumeClaim.

Others write there while the exporter runs, so no link is followed out of it. What is read is copied
to the run's own directory, as from S3, so that a training job that goes on changes nothing of what
is exported.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from modelexport_api.claims import SCHEME
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.errors import Access, denied, missing, of_os_error
from modelexport_exporter.storage.store import Role
from modelexport_exporter.storage.tree import LeavesRootError, NoRootError, Tree
from modelexport_exporter.storage.tree_store import TreeStore


class ClaimStore(TreeStore):
    """Files under their paths in the volume of a claim."""

    def __init__(self, claim: str, root: Path, role: Role) -> None:
        super().__init__(Tree(root), role)
        self._claim = claim

    def uri(self, key: str) -> str:
        """Return the pvc:// URI of a path."""
        return f"{SCHEME}{self._claim}/{key}"

    def local_path(self, key: str) -> Path | None:
        """Return None: a path would be followed out of the volume, by whoever opens it."""
        return None

    def failure_of(self, error: OSError, key: str) -> ExportFailure:
        """Return the failure for an error of the file system."""
        access = Access(self._role, self.uri(key), None, None)
        if isinstance(error, NoRootError):
            return missing(
                access,
                f"the claim {self._claim} is not mounted at {self._tree.root}",
                "Only the pods of a cluster mount claims. Write file:///PATH for a run on this "
                "machine, or set MODELEXPORT_CLAIMS_DIR to a directory that has the content of "
                "each claim under its name.",
            )
        if isinstance(error, LeavesRootError):
            return denied(
                access,
                error.strerror or "it leads out of the volume",
                "Replace the link by the file that it names, or by a relative link inside of the "
                "volume.",
            )
        return of_os_error(error, access, access.uri, self._hint(key))

    def _hint(self, key: str) -> str:
        """Say who asked and who may: of what is read, or of the directory that is written to."""
        writes = self._role is Role.DESTINATION
        place = self._ownership(key.rpartition("/")[0] if writes else key)
        groups = ", ".join(str(group) for group in sorted({os.getegid(), *os.getgroups()}))
        return (
            f"The export runs as user {os.geteuid()} with the groups {groups}; {place}. "
            f"Let one of them {'write there' if writes else 'read it'}, or set runAsUser, fsGroup "
            "or supplementalGroups in spec.podTemplate.spec.securityContext to those of the "
            "training job."
        )

    def _ownership(self, path: str) -> str:
        try:
            seen, found = self._tree.last_seen(path)
        except OSError as error:
            return f"{self.uri('')} cannot be looked at ({error.strerror})"
        mode = stat.filemode(found.st_mode)
        return f"{self.uri(seen)} is of user {found.st_uid} and group {found.st_gid} ({mode})"
