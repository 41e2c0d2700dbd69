"""Checksums that an S3 server keeps of an object, and the same of what arrived.

The fastest that the server knows is compared. Without one it is the ETag: the MD5 digest of the
object, or of the MD5 digests of its parts, unless the object is encrypted with keys of the user or
of KMS, or in a directory bucket (Amazon S3 API reference, "Object", ETag).
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

_DIRECTORY_BUCKET = "--x-s3"
_OTHER_ETAGS = ("SSECustomerAlgorithm", "SSEKMSKeyId")
_PARTS = re.compile(r"-(\d+)$")
_MD5 = re.compile(r"[0-9a-f]{32}")


class Hash(Protocol):
    """A checksum that grows with the bytes that it is given."""

    def update(self, block: bytes, /) -> None:
        """Add bytes."""

    def digest(self) -> bytes:
        """Return the checksum of all bytes so far."""


class _Crc:
    """A CRC as a Hash."""

    def __init__(self, function: Callable[[bytes, int], int], size: int) -> None:
        self._function = function
        self._size = size
        self._value = 0

    def update(self, block: bytes, /) -> None:
        self._value = self._function(block, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(self._size, "big")


def _crt(name: str, size: int) -> Hash:
    from awscrt import checksums  # type: ignore[import-untyped]

    return _Crc(getattr(checksums, name), size)


HASHES: dict[str, Callable[[], Hash]] = {
    "CRC64NVME": lambda: _crt("crc64nvme", 8),
    "CRC32C": lambda: _crt("crc32c", 4),
    "CRC32": lambda: _Crc(zlib.crc32, 4),
    "SHA1": lambda: hashlib.sha1(usedforsecurity=False),
    "SHA256": hashlib.sha256,
    "MD5": lambda: hashlib.md5(usedforsecurity=False),
}
"""By the name that S3 gives them, fast ones first."""


@dataclass(frozen=True)
class Checksum:
    """A checksum that the server keeps."""

    algorithm: str
    digest: bytes
    parts: int | None = None
    """The number of parts whose checksums it is the checksum of; None: of the bytes themselves."""


def checksum_of(head: Mapping[str, Any], bucket: str) -> Checksum | None:
    """Return the checksum in the response of HeadObject; None if it has none that can be used."""
    for algorithm in HASHES:
        value = head.get(f"Checksum{algorithm}")
        if value:
            text, parts = _split(value)
            return Checksum(algorithm, base64.b64decode(text), parts)
    text, parts = _split(head.get("ETag", "").strip('"'))
    encrypted = any(head.get(name) for name in _OTHER_ETAGS)
    if encrypted or bucket.endswith(_DIRECTORY_BUCKET) or not _MD5.fullmatch(text):
        return None
    return Checksum("MD5", bytes.fromhex(text), parts)


def _split(value: str) -> tuple[str, int | None]:
    """Return the digest and the number of parts of `digest-3`."""
    parts = _PARTS.search(value)
    return (value[: parts.start()], int(parts.group(1))) if parts else (value, None)


def equal_parts(size: int, first: int, count: int) -> tuple[int, ...] | None:
    """Return the sizes of parts that are as large as the first, but for the last; None if not so.

    `size`, `first`: bytes of the object and of its first part; `count`: number of parts.
    """
    if not first or -(-size // first) != count:
        return None
    return (*[first] * (count - 1), size - first * (count - 1))


class Running:
    """The checksum of bytes that come in order."""

    def __init__(self, algorithm: str, parts: Sequence[int] = ()) -> None:
        """Begin a checksum; `parts`: sizes in bytes of the parts whose checksums it is of."""
        self._new = HASHES[algorithm]
        self._ends = list(parts)
        self._whole = self._new()
        self._part = self._new() if parts else None
        self._room = self._ends.pop(0) if parts else 0

    def update(self, block: bytes) -> None:
        """Add bytes."""
        if self._part is None:
            self._whole.update(block)
            return
        view = memoryview(block)
        while view.nbytes:
            taken = view[: self._room]
            self._part.update(bytes(taken))
            self._room -= len(taken)
            view = view[len(taken) :]
            if not self._room:
                self._end_part()

    def _end_part(self) -> None:
        if self._part is not None:
            self._whole.update(self._part.digest())
        self._part = self._new()
        self._room = self._ends.pop(0) if self._ends else 1 << 62

    def digest(self) -> bytes:
        """Return the checksum."""
        return self._whole.digest()
