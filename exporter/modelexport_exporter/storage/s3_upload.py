"""A file on its way to S3 that no reader sees yet: a multipart upload that is not completed.

A large one's parts travel while the artifact is still being verified. Completing it makes the
object appear under its key at once; nothing is ever copied. A killed process leaves parts that are
no object.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Semaphore
from typing import TYPE_CHECKING, TypeVar

from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.regular_files import check_digest, opened
from modelexport_exporter.storage.s3_codes import UPLOAD_GONE, error_code, required
from modelexport_exporter.storage.s3_stream import SentBody
from modelexport_exporter.storage.store import OnBytes

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import CompletedPartTypeDef

Guard = Callable[[str], AbstractContextManager[None]]
"""Converts the errors of a request for a key to failures."""

T = TypeVar("T")

MAX_PARTS = 10_000
BEGINNINGS = 3
"""Of one upload that others abort."""
THREADS = 2


def part_size(size: int, usual: int) -> int:
    """Return the size of parts: the usual one, or larger where S3 allows no more parts."""
    return max(usual, -(-size // MAX_PARTS))


def _ignore(_count: int) -> None:
    """Report no progress: these bytes were counted before."""


@dataclass(frozen=True)
class PendingPut:
    """A content so small that it travels when it is published: one request instead of three."""

    key: str
    put: Callable[[], str]
    """Makes the request; returns the object's etag."""
    guard: Guard

    def publish(self) -> str:
        """Make the object appear under its key, in place of what was there; return its etag."""
        with self.guard(self.key):
            return self.put()

    def discard(self) -> None:
        """Nothing was sent."""


@dataclass
class PendingUpload:
    """All parts of one object."""

    client: S3Client
    bucket: str
    key: str
    content_type: str
    metadata: dict[str, str]
    guard: Guard
    source: Path
    """Is there until the upload is published or discarded."""
    sha256: str | None = None
    """What it has to have; checked over the bytes that are sent."""
    upload_id: str = ""
    parts: list[CompletedPartTypeDef] = field(default_factory=list)
    usual_part: int = 0

    def publish(self) -> str:
        """Make the object appear under its key, in place of what was there; return its etag."""
        return self._begin_again_if_gone(self._complete, self._send)

    def discard(self) -> None:
        """Drop the parts."""
        if self.upload_id:
            with self.guard(self.key):
                self.client.abort_multipart_upload(
                    Bucket=self.bucket, Key=self.key, UploadId=self.upload_id
                )

    def send(self, usual_part: int, on_bytes: OnBytes) -> None:
        """Upload the file's parts, a few at a time; only those are in memory."""
        self.usual_part = usual_part
        self._begin_again_if_gone(lambda: self._send(on_bytes), lambda: None)

    def _begin_again_if_gone(self, act: Callable[[], T], prepare: Callable[[], None]) -> T:
        """Return what `act` returns; where the upload was aborted, prepare and act again."""
        for _ in range(BEGINNINGS - 1):
            try:
                return act()
            except ExportFailure as failure:
                if error_code(failure.__cause__) not in UPLOAD_GONE:
                    raise
                prepare()
        return act()

    def _complete(self) -> str:
        with self.guard(self.key):
            answer = self.client.complete_multipart_upload(
                Bucket=self.bucket,
                Key=self.key,
                UploadId=self.upload_id,
                MultipartUpload={"Parts": self.parts},
            )
            etag: str = required(answer, "ETag")
        return etag

    def _send(self, on_bytes: OnBytes = _ignore) -> None:
        with self.guard(self.key):
            begun = self.client.create_multipart_upload(
                Bucket=self.bucket,
                Key=self.key,
                ChecksumAlgorithm="CRC32",
                ContentType=self.content_type,
                Metadata=self.metadata,
            )
            self.upload_id = required(begun, "UploadId")
        with opened(self.source) as descriptor:
            digest = self._send_parts(descriptor, on_bytes)
        check_digest(self.source.name, digest, self.sha256)

    def _send_parts(self, descriptor: int, on_bytes: OnBytes) -> str:
        """Upload the parts of a file; return the SHA-256 of what was sent."""
        size = os.fstat(descriptor).st_size
        step = part_size(size, self.usual_part)
        digest, free = hashlib.sha256(), Semaphore(THREADS)
        pool = ThreadPoolExecutor(THREADS, thread_name_prefix="upload-part")
        running: list[Future[CompletedPartTypeDef]] = []
        try:
            for content in _parts(descriptor, size, step, free):
                number = len(running) + 1
                running.append(pool.submit(self._send_part, number, content, on_bytes))
                running[-1].add_done_callback(lambda _sent: free.release())
                digest.update(content)
            self.parts = [part.result() for part in running]
        finally:
            pool.shutdown(cancel_futures=True)
        return digest.hexdigest()

    def _send_part(self, number: int, content: bytes, on_bytes: OnBytes) -> CompletedPartTypeDef:
        with self.guard(self.key):
            answer = self.client.upload_part(
                Bucket=self.bucket,
                Key=self.key,
                UploadId=self.upload_id,
                PartNumber=number,
                Body=SentBody(content),
                ChecksumAlgorithm="CRC32",
            )
            part: CompletedPartTypeDef = {"ETag": required(answer, "ETag"), "PartNumber": number}
        on_bytes(len(content))
        if "ChecksumCRC32" in answer:
            part["ChecksumCRC32"] = answer["ChecksumCRC32"]
        return part


def _parts(source: int, size: int, length: int, free: Semaphore) -> Iterator[bytes]:
    """Yield the parts of a file in order, an empty one of an empty file; each when one is free."""
    with open(source, "rb", closefd=False) as file:
        for _ in range(0, max(size, 1), length):
            free.acquire()
            yield file.read(length)
