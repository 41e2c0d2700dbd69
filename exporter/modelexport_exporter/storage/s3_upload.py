"""A file on its way to S3 that no reader sees yet: a multipart upload that is not completed.

A large one's parts travel while the artifact is still being verified. Completing it makes the
object appear under its key at once; nothing is ever copied. A killed process leaves parts that are
no object.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modelexport_exporter.storage.store import OnBytes

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import CompletedPartTypeDef

Guard = Callable[[str], AbstractContextManager[None]]
"""Converts the errors of a request for a key to failures."""

MAX_PARTS = 10_000
THREADS = 2


def part_size(size: int, usual: int) -> int:
    """Return the size of parts: the usual one, or larger where S3 allows no more parts."""
    return max(usual, -(-size // MAX_PARTS))


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
    upload_id: str
    guard: Guard
    parts: list[CompletedPartTypeDef]

    def publish(self) -> str:
        """Make the object appear under its key, in place of what was there; return its etag."""
        with self.guard(self.key):
            answer = self.client.complete_multipart_upload(
                Bucket=self.bucket,
                Key=self.key,
                UploadId=self.upload_id,
                MultipartUpload={"Parts": self.parts},
            )
        return answer["ETag"]

    def discard(self) -> None:
        """Drop the parts."""
        with self.guard(self.key):
            self.client.abort_multipart_upload(
                Bucket=self.bucket, Key=self.key, UploadId=self.upload_id
            )

    def send(self, source: Path, usual_part: int, on_bytes: OnBytes) -> None:
        """Upload a file's parts, a few at a time; only those are in memory."""
        size = source.stat().st_size
        step = part_size(size, usual_part)
        starts = range(0, size, step) if size else range(1)
        pool = ThreadPoolExecutor(THREADS, thread_name_prefix="upload-part")
        try:
            running = [
                pool.submit(self._send_part, source, number, start, step, on_bytes)
                for number, start in enumerate(starts, start=1)
            ]
            self.parts = [part.result() for part in running]
        finally:
            pool.shutdown(cancel_futures=True)

    def _send_part(
        self, source: Path, number: int, start: int, step: int, on_bytes: OnBytes
    ) -> CompletedPartTypeDef:
        # In one piece: of a file, every few kilobytes would be read, hashed and sent by themselves.
        body = _read(source, start, step)
        with self.guard(self.key):
            answer = self.client.upload_part(
                Bucket=self.bucket,
                Key=self.key,
                UploadId=self.upload_id,
                PartNumber=number,
                Body=body,
                ChecksumAlgorithm="CRC32",
            )
        on_bytes(len(body))
        part: CompletedPartTypeDef = {"ETag": answer["ETag"], "PartNumber": number}
        if "ChecksumCRC32" in answer:
            part["ChecksumCRC32"] = answer["ChecksumCRC32"]
        return part


def _read(source: Path, start: int, length: int) -> bytes:
    with source.open("rb") as file:
        file.seek(start)
        return file.read(length)
