"""From a URI of the spec to a key in a store. Nothing is asked over the network yet."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from modelexport_api import claims
from modelexport_api.spec import ModelExportSpec, Storage
from modelexport_exporter.storage.claims import ClaimStore
from modelexport_exporter.storage.files import FileStore
from modelexport_exporter.storage.s3 import S3Store
from modelexport_exporter.storage.store import Location, Role


@dataclass(frozen=True)
class Stores:
    """The stores that a spec names, each opened for what it is used for."""

    spec: ModelExportSpec

    def source(self, uri: str) -> Location:
        """Return the location of a checkpoint, or of recorded inputs."""
        return locate(uri, self.spec.storage, Role.SOURCE)

    def code(self, uri: str) -> Location:
        """Return the location of code or of a library."""
        return locate(uri, self.spec.storage, Role.CODE)

    def artifact(self, uri: str) -> Location:
        """Return the location of an artifact to verify."""
        return locate(uri, self.spec.storage, Role.ARTIFACT)

    def destination(self, uri: str) -> Location:
        """Return the location of a directory to publish to."""
        return locate(uri, self.spec.storage, Role.DESTINATION).as_directory()


def locate(uri: str, storage: Storage, role: Role) -> Location:
    """Return the location that a URI names."""
    if claims.is_claim(uri):
        claim, path = claims.split(uri)
        return Location(ClaimStore(claim, Path(claims.mounted_at(claim, os.environ)), role), path)
    parts = urlsplit(uri)
    if parts.scheme == "file":
        return Location(FileStore(role), unquote(parts.path))
    # Not urlsplit: a key may hold ? and #.
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return Location(S3Store(bucket, storage, role), key)
