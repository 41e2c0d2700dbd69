"""An object of a store: what identifies one content of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StoredObject:
    """An object as its store describes it. Another etag is another content."""

    key: str
    size_bytes: int
    etag: str
    version_id: str | None = None
