"""The image that holds a pod's namespaces open: one static binary, packed here."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

from bed import golang
from bed.node_config import PAUSE_IMAGE


def write(archive: Path) -> Path:
    """Write the image to ARCHIVE and return it."""
    archive.write_bytes(pack(golang.PAUSE.binary("pause").read_bytes()))
    return archive


def pack(binary: bytes) -> bytes:
    """An image archive (`docker save`'s format) with BINARY as its only file and entry point."""
    layer = _tar({"pause": binary})
    config = json.dumps(
        {
            "architecture": golang.architecture(),
            "os": "linux",
            "config": {"Entrypoint": ["/pause"], "User": "65535:65535"},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{_digest(layer)}"]},
        }
    ).encode()
    manifest = [
        {"Config": f"{_digest(config)}.json", "RepoTags": [PAUSE_IMAGE], "Layers": ["layer.tar"]}
    ]
    return _tar(
        {
            f"{_digest(config)}.json": config,
            "layer.tar": layer,
            "manifest.json": json.dumps(manifest).encode(),
        }
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()
