"""An object of a store: what identifies one content of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class StoredObject:
    """An object as its store describes it. Another etag is another content."""

    key: str
    size_bytes: int
    etag: str
    version_id: str | None = None
    modified: datetime | None = field(default=None, compare=False)
    """By the clock of the store, where it was asked for one object."""
    sha256: str | None = field(default=None, compare=False)
    """What the store keeps of the digest that its writer gave."""
