"""A multipart upload to S3 that is not completed: an object that no reader sees yet.

Completing it makes the object appear under its key at once. A killed process leaves parts that are
no object; whoever cleans up may abort the upload, which then begins again.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeVar

from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.s3_codes import UPLOAD_GONE, error_code, required
from modelexport_exporter.storage.store import OnBytes

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import (
        CompletedPartTypeDef,
        CreateMultipartUploadRequestTypeDef,
    )

Guard = Callable[[str], AbstractContextManager[None]]
"""Converts the errors of a request for a key to failures."""

T = TypeVar("T")

MAX_PARTS = 10_000
BEGINNINGS = 3
"""Of one upload that others abort."""


def part_size(size: int, usual: int) -> int:
    """Return the size of parts: the usual one, or larger where S3 allows no more parts."""
    return max(usual, -(-size // MAX_PARTS))


def _ignore(_count: int) -> None:
    """Report no progress: these bytes were counted before."""


@dataclass
class PendingMultipart(abc.ABC):
    """All parts of one object."""

    client: S3Client
    bucket: str
    key: str
    content_type: str
    metadata: dict[str, str]
    guard: Guard
    checksums: ClassVar[bool] = True
    """Whether the parts have checksums of ours, which the server compares."""
    upload_id: str = field(default="", init=False)
    parts: list[CompletedPartTypeDef] = field(default_factory=list, init=False)

    def publish(self) -> str:
        """Make the object appear under its key, in place of what was there; return its etag."""
        return self._begin_again_if_gone(self._complete, self._begin)

    def discard(self) -> None:
        """Drop the parts."""
        if self.upload_id:
            with self.guard(self.key):
                self.client.abort_multipart_upload(
                    Bucket=self.bucket, Key=self.key, UploadId=self.upload_id
                )

    def send(self, on_bytes: OnBytes) -> None:
        """Bring all parts to the store."""
        self._begin_again_if_gone(lambda: self._begin(on_bytes), lambda: None)

    @abc.abstractmethod
    def _send_parts(self, on_bytes: OnBytes) -> list[CompletedPartTypeDef]:
        """Bring all parts to the store; return what completes the upload."""

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

    def _begin(self, on_bytes: OnBytes = _ignore) -> None:
        with self.guard(self.key):
            request: CreateMultipartUploadRequestTypeDef = {
                "Bucket": self.bucket,
                "Key": self.key,
                "ContentType": self.content_type,
                "Metadata": self.metadata,
            }
            if self.checksums:
                request["ChecksumAlgorithm"] = "CRC32"
            begun = self.client.create_multipart_upload(**request)
            self.upload_id = required(begun, "UploadId")
        self.parts = self._send_parts(on_bytes)

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
