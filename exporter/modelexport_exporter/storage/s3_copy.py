"""An object that the S3 server copies itself, and that no reader sees before it is published.

Guarantees that the parts are those of the object that was found: each request names its ETag (and
its version, if it has one), so a source that was replaced is refused, as in a download.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage.errors import replaced
from modelexport_exporter.storage.s3_codes import CONDITION, MISSING, error_code, required
from modelexport_exporter.storage.s3_multipart import PendingMultipart, part_size
from modelexport_exporter.storage.store import OnBytes

if TYPE_CHECKING:
    from types_boto3_s3.type_defs import CompletedPartTypeDef, CopySourceTypeDef

COPY_PART_BYTES = 256 << 20
"""Small enough to be answered before a connection without a byte ends; S3 takes 5 GiB."""
_THREADS = 4


@dataclass
class PendingCopy(PendingMultipart):
    """An object whose parts are copied from another one of the same server."""

    # versitygw answers with the checksum of the source, which is that of no part.
    checksums: ClassVar[bool] = False
    source_bucket: str
    found: StoredObject
    source_uri: str

    def _send_parts(self, on_bytes: OnBytes) -> list[CompletedPartTypeDef]:
        size = self.found.size_bytes
        step = part_size(size, COPY_PART_BYTES)
        ranges = [(begin, min(begin + step, size)) for begin in range(0, size, step)]
        pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="copy-part")
        try:
            running = [pool.submit(self._copy, *part) for part in enumerate(ranges, 1)]
            parts = [part.result() for part in running]
        finally:
            pool.shutdown(cancel_futures=True)
        on_bytes(size)
        return parts

    def _copy(self, number: int, part: tuple[int, int]) -> CompletedPartTypeDef:
        source: CopySourceTypeDef = {"Bucket": self.source_bucket, "Key": self.found.key}
        if self.found.version_id is not None:
            source["VersionId"] = self.found.version_id
        with self.guard(self.key):
            try:
                answer = self.client.upload_part_copy(
                    Bucket=self.bucket,
                    Key=self.key,
                    UploadId=self.upload_id,
                    PartNumber=number,
                    CopySource=source,
                    CopySourceIfMatch=self.found.etag,
                    CopySourceRange=f"bytes={part[0]}-{part[1] - 1}",
                )
            except Exception as error:
                if error_code(error) in CONDITION | MISSING:
                    raise replaced(self.source_uri) from error
                raise
            copied = required(answer, "CopyPartResult")
            return {"ETag": required(copied, "ETag"), "PartNumber": number}
