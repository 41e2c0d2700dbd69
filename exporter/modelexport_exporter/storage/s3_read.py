"""Reads objects of S3 that nothing else compares with a digest: whole, or as their SHA-256.

A stream that breaks is read again, and so is one that brings other bytes than the server has a
checksum of: a manifest with another name in it would make a later step delete the wrong file.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage import errors as storage_errors
from modelexport_exporter.storage.checksums import HASHES, Checksum, checksum_of
from modelexport_exporter.storage.errors import Access
from modelexport_exporter.storage.s3_codes import IncompleteAnswerError, states_its_end
from modelexport_exporter.storage.s3_stream import blocks

ATTEMPTS = 5
"""Of one object whose stream breaks, or whose bytes change on the way."""

Answer = Mapping[str, Any]
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Taker(Protocol[T_co]):
    """Takes the blocks of an object."""

    def take(self, block: bytes) -> bool:
        """Take a block; return whether more is wanted."""

    def result(self) -> T_co:
        """Return what came of it."""


class Content:
    """The beginning of an object."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._content = bytearray()

    def take(self, block: bytes) -> bool:
        """Take a block; return whether more is wanted."""
        self._content += block
        return len(self._content) < self._most

    def result(self) -> bytes:
        """Return the content."""
        return bytes(self._content[: self._most])


class Sha256:
    """The SHA-256 of an object, in hex."""

    def __init__(self) -> None:
        self._running = hashlib.sha256()

    def take(self, block: bytes) -> bool:
        """Take a block; return whether more is wanted."""
        self._running.update(block)
        return True

    def result(self) -> str:
        """Return the digest."""
        return self._running.hexdigest()


def read(
    request: Callable[[], Answer | None],
    taker: Callable[[], Taker[T]],
    bucket: str,
    access: Access,
    guard: Callable[[], AbstractContextManager[None]],
) -> tuple[T, Answer] | None:
    """Return what a taker made of an object, and the answer; None where there is none.

    `request`: a GetObject. Raises ExportFailure.
    """
    for attempt in range(1, ATTEMPTS + 1):
        with guard():
            answer = request()
        if answer is None:
            return None
        expected = _comparable(checksum_of(answer, bucket))
        try:
            with guard():
                taken, digest = _take(answer, taker(), expected)
        except ExportFailure as failure:
            if failure.reason is not Reason.STORE_UNAVAILABLE or attempt == ATTEMPTS:
                raise
        else:
            if expected is None or digest is None or digest == expected.digest:
                return taken, answer
            if attempt == ATTEMPTS:
                found = digest.hex()
                algorithm, stored = expected.algorithm, expected.digest.hex()
                raise storage_errors.damaged(access.uri, algorithm, stored, found, attempt)
        time.sleep(2**attempt / 8)
    raise AssertionError("the last attempt returns or raises")


def _comparable(found: Checksum | None) -> Checksum | None:
    """Return a checksum of the bytes themselves: the sizes of parts take more requests."""
    return found if found is not None and found.parts is None else None


def _take(answer: Answer, taker: Taker[T], expected: Checksum | None) -> tuple[T, bytes | None]:
    """Return what came of the body, and its checksum; None if it was not read to its end."""
    if not states_its_end(answer):
        raise IncompleteAnswerError("the answer has no length")
    running = HASHES[expected.algorithm]() if expected else None
    whole = True
    for block in blocks(answer["Body"]):
        if running is not None:
            running.update(block)
        if not taker.take(block):
            whole = False
            break
    return taker.result(), running.digest() if running is not None and whole else None
