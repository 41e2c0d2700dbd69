"""An OCI image layout on disk that holds one image, and not what was there before it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAME = "org.opencontainers.image.ref.name"


@dataclass(frozen=True)
class Layout:
    """A directory in the OCI image layout that holds one image."""

    directory: Path

    def drop_others(self, name: str) -> None:
        """Remove every image but NAME, and what only they used."""
        path = self.directory / "index.json"
        index = json.loads(path.read_text())
        # A second push of the same name takes it away from the first image's entry.
        index["manifests"] = [d for d in index["manifests"] if _name_of(d) == name]
        path.write_text(json.dumps(index))
        manifest = self._manifest()
        used = {self._blob(d) for d in [self._entry(), manifest["config"], *manifest["layers"]]}
        for blob in self.directory.glob("blobs/*/*"):
            if blob not in used:
                blob.unlink()

    def _entry(self) -> dict[str, Any]:
        """The descriptor of the one image."""
        index = json.loads((self.directory / "index.json").read_text())
        (entry,) = index["manifests"]
        found: dict[str, Any] = entry
        return found

    def _manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads(self._blob(self._entry()).read_text())
        return manifest

    def _blob(self, descriptor: dict[str, Any]) -> Path:
        digest: str = descriptor["digest"]
        return self.directory.joinpath("blobs", *digest.split(":"))


def _name_of(descriptor: dict[str, Any]) -> str | None:
    name: str | None = descriptor.get("annotations", {}).get(_NAME)
    return name
