"""Downloads an object of S3 in parallel ranges, and compares its checksum.

The checksum is computed while later ranges arrive. Bytes that changed on the way are downloaded
again; what changes each time is a failure, and never a checkpoint.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage import errors as storage_errors
from modelexport_exporter.storage.checksums import Checksum, Running, checksum_of, equal_parts
from modelexport_exporter.storage.errors import Access
from modelexport_exporter.storage.s3_codes import (
    CONDITION,
    MISSING,
    IncompleteAnswerError,
    error_code,
)
from modelexport_exporter.storage.s3_head import head_object
from modelexport_exporter.storage.s3_stream import blocks
from modelexport_exporter.storage.s3_upload import THREADS
from modelexport_exporter.storage.store import OnBytes

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

Send = Callable[..., Mapping[str, Any]]
"""Sends a request by a client."""

MIB = 1024 * 1024
PART_BYTES = 64 * MIB
"""Of a range; nothing of it is held in memory."""
READ_BYTES = MIB
PART_ATTEMPTS = 5
DOWNLOADS = 3
"""Of one object whose bytes change on the way."""
MOST_PARTS = 1000
"""Of an object whose parts have unequal sizes, which are asked for one by one."""


@dataclass(frozen=True)
class Place:
    """Where objects are, and how errors there are reported."""

    client: S3Client
    bucket: str
    access: Access
    typed_errors: Callable[[str], AbstractContextManager[None]]


def read_range(place: Place, found: StoredObject, start: int, end: int) -> bytes:
    """Return some bytes of exactly this version of an object. Raises ExportFailure."""
    return Download(place, found, Path(os.devnull)).read(start, end)


class Download:
    """One object on its way to a file."""

    def __init__(self, place: Place, found: StoredObject, target: Path) -> None:
        """Download exactly this version of the object."""
        self._place = place
        self._found = found
        self._target = target
        self._expected: Checksum | None = None

    def run(self, on_bytes: OnBytes) -> None:
        """Write the file. Raises ExportFailure."""
        if self._found.size_bytes > PART_BYTES:
            self._expected = checksum_of(self._head(ChecksumMode="ENABLED"), self._place.bucket)
        report = on_bytes
        for attempt in range(1, DOWNLOADS + 1):
            digest = self._write(report)
            expected = self._expected
            if expected is None or digest is None or self._agrees(expected, digest):
                return
            if attempt == DOWNLOADS:
                raise storage_errors.damaged(
                    self._place.access.uri,
                    expected.algorithm,
                    expected.digest.hex(),
                    digest.hex(),
                    attempt,
                )
            report = _ignore

    def _agrees(self, expected: Checksum, digest: bytes) -> bool:
        return digest == expected.digest or (
            expected.parts is not None and self._agrees_by_parts(expected, expected.parts)
        )

    def _agrees_by_parts(self, expected: Checksum, count: int) -> bool:
        """Return whether the checksum agrees with parts of the sizes that the server names."""
        sizes = self._sizes_of_parts(count)
        if not sizes:
            return False
        running = Running(expected.algorithm, sizes)
        with self._target.open("rb") as file:
            while block := file.read(READ_BYTES):
                running.update(block)
        return running.digest() == expected.digest

    def _sizes_of_parts(self, count: int) -> list[int]:
        """Return the sizes that the server names part by part; empty if it does not know them."""
        if count > MOST_PARTS:
            return []
        sizes = [self._head(PartNumber=number)["ContentLength"] for number in range(1, count + 1)]
        return sizes if sum(sizes) == self._found.size_bytes else []

    def _write(self, on_bytes: OnBytes) -> bytes | None:
        """Write the file; return its checksum, None if there is none to compare it with."""
        size = self._found.size_bytes
        # Also of what is said to be empty: a HEAD that lost its length says 0.
        starts = range(0, max(size, 1), PART_BYTES)
        descriptor = os.open(self._target, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o644)
        pool = ThreadPoolExecutor(THREADS, thread_name_prefix="download")
        try:
            self._reserve(descriptor)
            parts = [pool.submit(self._write_part, at, descriptor, on_bytes) for at in starts]
            running: Running | None = None
            for start, part in zip(starts, parts, strict=True):
                part.result()
                running = self._running() if start == 0 else running
                if running is not None:
                    for block in _blocks(descriptor, start, min(start + PART_BYTES, size)):
                        running.update(block)
        finally:
            pool.shutdown(cancel_futures=True)
            os.close(descriptor)
        return running.digest() if running is not None else None

    def _running(self) -> Running | None:
        """Return a checksum to compute; None without one to compare it with.

        Parts mostly have one size, which the first one shows.
        """
        expected = self._expected
        if expected is None or expected.parts is None:
            return Running(expected.algorithm) if expected else None
        first = self._head(PartNumber=1)["ContentLength"]
        equal = equal_parts(self._found.size_bytes, first, expected.parts)
        sizes = equal or self._sizes_of_parts(expected.parts)
        return Running(expected.algorithm, sizes) if sizes else None

    def _reserve(self, descriptor: int) -> None:
        """Find out that the disk is too small before the first byte is moved."""
        try:
            if self._found.size_bytes:
                os.posix_fallocate(descriptor, 0, self._found.size_bytes)
        except OSError as error:
            raise self._os_error(error) from error

    def _write_part(self, start: int, descriptor: int, on_bytes: OnBytes) -> None:
        """Write one range; a broken stream is resumed where it broke, a few times.

        A request that is refused is not made again here: the client has done so already.
        """
        key, end = self._found.key, min(start + PART_BYTES, self._found.size_bytes)
        position = start
        for attempt in range(PART_ATTEMPTS):
            with self._place.typed_errors(key):
                answer = self._open(position, end)
            try:
                with self._place.typed_errors(key):
                    self._check(answer, position, end)
                    for chunk in blocks(answer["Body"]):
                        if position + len(chunk) > end:
                            raise IncompleteAnswerError("more bytes than were requested")
                        self._write_at(descriptor, chunk, position)
                        position += len(chunk)
                        on_bytes(len(chunk))
            except ExportFailure as failure:
                breaks_off = failure.reason is Reason.STORE_UNAVAILABLE
                if not breaks_off or attempt == PART_ATTEMPTS - 1:
                    raise
                time.sleep(2**attempt / 4)
                if position == start:
                    continue
            if position >= end:
                return
        raise storage_errors.unavailable(self._place.access, "the stream ended too early")

    def read(self, start: int, end: int) -> bytes:
        """Return a range, which is not compared with a checksum. Raises ExportFailure."""
        with self._place.typed_errors(self._found.key):
            answer = self._open(start, end)
            self._check(answer, start, end)
            content = b"".join(blocks(answer["Body"]))
        return content[: end - start]

    def _open(self, start: int, end: int) -> Mapping[str, Any]:
        """Request a range, or the whole object, which comes with its checksum."""
        whole = self._is_whole(start, end)
        extent = {} if whole else {"Range": f"bytes={start}-{end - 1}"}
        answer = self._request(_get_object, ChecksumMode="ENABLED", **extent)
        if whole:
            self._expected = checksum_of(answer, self._place.bucket)
        return answer

    def _is_whole(self, start: int, end: int) -> bool:
        return (start, end) == (0, self._found.size_bytes)

    def _check(self, answer: Mapping[str, Any], start: int, end: int) -> None:
        """Raise if it is another object or range: servers and caches ignore what they do not know.

        Closes the connection then.
        """
        expected = f"bytes {start}-{end - 1}/{self._found.size_bytes}"
        etag, found = answer.get("ETag"), answer.get("ContentRange")
        if etag == self._found.etag and (found == expected or self._is_whole(start, end)):
            return
        answer["Body"].close()
        if etag is not None and etag != self._found.etag:
            raise storage_errors.replaced(self._place.access.uri)
        raise IncompleteAnswerError(f"{expected} was requested, the answer has {found or 'none'}")

    def _head(self, **options: Any) -> Mapping[str, Any]:  # noqa: ANN401
        with self._place.typed_errors(self._found.key):
            return self._request(head_object, **options)

    def _request(self, send: Send, **options: Any) -> Mapping[str, Any]:  # noqa: ANN401
        """Send a request for exactly this object. Raises what boto3 raises, or SourceChanged."""
        found = self._found
        request = {"Bucket": self._place.bucket, "Key": found.key, "IfMatch": found.etag, **options}
        if found.version_id:
            request["VersionId"] = found.version_id
        try:
            answer: Mapping[str, Any] = send(self._place.client, **request)
        except Exception as error:
            # It was there when it was looked at.
            if error_code(error) in CONDITION | MISSING:
                raise storage_errors.replaced(self._place.access.uri) from error
            raise
        return answer

    def _write_at(self, descriptor: int, chunk: bytes, position: int) -> None:
        try:
            os.pwrite(descriptor, chunk, position)
        except OSError as error:
            raise self._os_error(error) from error

    def _os_error(self, error: OSError) -> ExportFailure:
        return storage_errors.from_os_error(error, self._place.access.role, str(self._target))


def _get_object(client: S3Client, **request: Any) -> Mapping[str, Any]:  # noqa: ANN401
    return client.get_object(**request)


def _blocks(descriptor: int, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a file from `start` to `end`."""
    position = start
    while block := os.pread(descriptor, min(READ_BYTES, end - position), position):
        position += len(block)
        yield block


def _ignore(_count: int) -> None:
    """Report no progress: these bytes were counted before."""
