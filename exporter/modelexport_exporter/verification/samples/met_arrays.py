"""The small arrays that ran: other samples may draw the same ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

MOST_BYTES = 1 << 16
"""Larger arrays are not equal by chance, and take time to read."""


def digest_of(arrays: Mapping[str, Array]) -> bytes:
    """Return the SHA-256 of the names, dtypes, shapes and values of arrays."""
    sha256 = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        sha256.update(f"{name} {array.dtype.name} {array.shape} ".encode())
        sha256.update(array.tobytes())
    return sha256.digest()


class MetArrays:
    """Remembers arrays by their digests."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def is_new(self, arrays: Mapping[str, Array]) -> bool:
        """Return whether these arrays, of these names and in these dtypes, are met first."""
        if sum(array.nbytes for array in arrays.values()) > MOST_BYTES:
            return True
        digest = digest_of(arrays)
        new = digest not in self._digests
        self._digests.add(digest)
        return new
