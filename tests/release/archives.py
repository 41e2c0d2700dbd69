"""Archives and OCI layouts whose bytes depend on their contents alone."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


@dataclass(frozen=True)
class Blob:
    """One content of an OCI artifact."""

    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def descriptor(self) -> dict[str, Any]:
        size = len(self.content)
        return {"mediaType": self.media_type, "digest": f"sha256:{self.digest}", "size": size}


def tar_gz(files: Mapping[str, bytes], epoch: int) -> bytes:
    """FILES by name in one archive, in order, of nobody, all of the time EPOCH."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(files[name]), epoch, 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=epoch) as stream:
        stream.write(plain.getvalue())
    return packed.getvalue()


def untar(content: bytes) -> dict[str, bytes]:
    """The regular files in a compressed archive."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        members = [(member, archive.extractfile(member)) for member in archive]
        return {member.name: stream.read() for member, stream in members if stream}


def write_layout(
    target: Path, config: Blob, layers: Sequence[Blob], annotations: Mapping[str, str], tag: str
) -> str:
    """Write an OCI image layout with one manifest; return the manifest's digest."""
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": config.descriptor(),
        "layers": [layer.descriptor() for layer in layers],
        "annotations": dict(annotations),
    }
    described = Blob(_MANIFEST, encoded(manifest))
    blobs = target / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    for blob in (config, *layers, described):
        (blobs / blob.digest).write_bytes(blob.content)
    entry = described.descriptor() | {"annotations": {"org.opencontainers.image.ref.name": tag}}
    (target / "index.json").write_bytes(encoded({"schemaVersion": 2, "manifests": [entry]}))
    (target / "oci-layout").write_bytes(encoded({"imageLayoutVersion": "1.0.0"}))
    return f"sha256:{described.digest}"


def encoded(document: Mapping[str, Any]) -> bytes:
    """JSON of one form for one content."""
    return json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False).encode() + b"\n"
