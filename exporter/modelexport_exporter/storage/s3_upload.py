"""A file on its way to S3 that no reader sees yet, sent from here.

A large one's parts travel while the artifact is still being verified.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Semaphore
from typing import TYPE_CHECKING

from modelexport_exporter.storage.regular_files import check_digest, opened
from modelexport_exporter.storage.s3_codes import required
from modelexport_exporter.storage.s3_multipart import Guard, PendingMultipart, part_size
from modelexport_exporter.storage.s3_stream import SentBody
from modelexport_exporter.storage.store import OnBytes

if TYPE_CHECKING:
    from types_boto3_s3.type_defs import CompletedPartTypeDef

THREADS = 2


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
class PendingUpload(PendingMultipart):
    """A file whose parts are sent from here."""

    source: Path
    """Is there until the upload is published or discarded."""
    sha256: str | None
    """What it has to have; checked over the bytes that are sent."""
    usual_part: int

    def _send_parts(self, on_bytes: OnBytes) -> list[CompletedPartTypeDef]:
        """Upload the file's parts, a few at a time; only those are in memory."""
        with opened(self.source) as descriptor:
            digest, parts = self._send_file(descriptor, on_bytes)
        check_digest(self.source.name, digest, self.sha256)
        return parts

    def _send_file(
        self, descriptor: int, on_bytes: OnBytes
    ) -> tuple[str, list[CompletedPartTypeDef]]:
        """Upload the parts of a file; return the SHA-256 of what was sent, and the parts."""
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
            parts = [part.result() for part in running]
        finally:
            pool.shutdown(cancel_futures=True)
        return digest.hexdigest(), parts

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
