"""What is in an OCI image layout: one image, and its digest."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from release.errors import ReleaseError

INDEX = "index.json"


def digest(layout: Path) -> str:
    """The digest of the only image in LAYOUT, a directory or an archive of one."""
    entries = _index(layout).get("manifests", [])
    if len(entries) != 1:
        raise ReleaseError(
            "LayoutNotOneImage",
            f"{layout} has {len(entries)} images, expected 1. Copy the one that you mean into a "
            "layout of its own.",
        )
    return str(entries[0]["digest"])


def _index(layout: Path) -> dict[str, Any]:
    try:
        if layout.is_dir():
            return dict(json.loads((layout / INDEX).read_bytes()))
        with tarfile.open(layout) as archive:
            member = next(m for m in archive if m.name.removeprefix("./") == INDEX)
            stream = archive.extractfile(member)
            return dict(json.load(stream)) if stream else {}
    except (OSError, tarfile.TarError, StopIteration, ValueError) as error:
        raise ReleaseError(
            "LayoutNotRead",
            f"{layout} is no OCI image layout or archive of one: {error or 'no index.json'}",
        ) from error
