"""A `Store` over one S3 bucket: keys are the bucket's keys.

Downloads are pinned to the ETag that was seen first, in parallel ranges written in place. boto3 is
imported when the first request is made: a run on local files never pays for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from modelexport_api.spec import Storage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage import s3_listing
from modelexport_exporter.storage.errors import Access
from modelexport_exporter.storage.regular_files import check_digest, opened
from modelexport_exporter.storage.s3_client import client_for
from modelexport_exporter.storage.s3_codes import (
    CONDITION,
    MISSING,
    IncompleteAnswerError,
    error_code,
    required,
)
from modelexport_exporter.storage.s3_copy import PendingCopy
from modelexport_exporter.storage.s3_download import Download, Place, read_range
from modelexport_exporter.storage.s3_head import head_object
from modelexport_exporter.storage.s3_multipart import PendingMultipart
from modelexport_exporter.storage.s3_read import Content, Sha256, Taker, read
from modelexport_exporter.storage.s3_upload import PendingPut, PendingUpload
from modelexport_exporter.storage.store import (
    SMALL_OBJECT_BYTES,
    ConditionFailedError,
    OnBytes,
    Origin,
    Role,
)

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

T = TypeVar("T")

MIB = 1024 * 1024
UPLOAD_PART_BYTES = 8 * MIB
"""Held in memory while it is sent."""
SMALL_UPLOAD_BYTES = MIB
"""What is smaller is sent at once when it is published: it takes no longer than a word."""


_DIGEST = "sha256"
"""The entry in an object's metadata that its copies keep."""


def content_type(key: str) -> str:
    """Return the content type of an object: a browser shows a page and does not download it."""
    kinds = {"html": "text/html; charset=utf-8", "json": "application/json"}
    return kinds.get(key.rpartition(".")[2], "application/octet-stream")


class S3Store:
    """Objects in a bucket."""

    def __init__(self, bucket: str, storage: Storage, role: Role) -> None:
        self.bucket = bucket
        self.storage = storage
        self._role = role

    def uri(self, key: str) -> str:
        """Return the s3:// URI of a key."""
        return f"s3://{self.bucket}/{key}"

    def stat(self, key: str, version_id: str | None = None) -> StoredObject | None:
        """Return the object, or None where there is none."""
        request: dict[str, Any] = {"Bucket": self.bucket, "Key": key}
        if version_id:
            request["VersionId"] = version_id
        with self._typed_errors(key):
            head = _or_none(lambda: head_object(self._client, **request))
        if head is None:
            return None
        # "null" is how S3 calls the version of an object in a bucket without versions.
        version = head.get("VersionId", "null")
        with self._typed_errors(key):
            return StoredObject(
                key,
                required(head, "ContentLength"),
                required(head, "ETag"),
                None if version == "null" else version,
                required(head, "LastModified"),
                head.get("Metadata", {}).get(_DIGEST),
            )

    def list_all(self, prefix: str, depth: int | None = None) -> list[StoredObject]:
        """Return every object whose key starts with the prefix, in order of the keys."""
        with self._typed_errors(prefix):
            return s3_listing.objects(self._client, self.bucket, prefix, depth)

    def names(self, prefix: str, limit: int | None = None) -> list[str]:
        """Return the first names directly below a directory; directories end in a slash."""
        with self._typed_errors(prefix):
            return s3_listing.names(self._client, self.bucket, prefix, limit)

    def read(self, key: str) -> tuple[bytes, StoredObject] | None:
        """Return a small object's content, or None where there is none."""
        found = self._read(key, partial(Content, SMALL_OBJECT_BYTES))
        if found is None:
            return None
        content, answer = found
        with self._typed_errors(key):
            return content, StoredObject(key, len(content), required(answer, "ETag"))

    def _read(
        self,
        key: str,
        taker: Callable[[], Taker[T]],
        **condition: Any,  # noqa: ANN401
    ) -> tuple[T, Mapping[str, Any]] | None:
        def request() -> Mapping[str, Any] | None:
            return _or_none(
                lambda: self._client.get_object(
                    Bucket=self.bucket, Key=key, ChecksumMode="ENABLED", **condition
                )
            )

        guard = partial(self._typed_errors, key)
        return read(request, taker, self.bucket, self._access(key), guard)

    def read_range(self, found: StoredObject, start: int, end: int) -> bytes:
        """Return some bytes of exactly this object; fail if it was replaced in the meantime."""
        place = Place(self._client, self.bucket, self._access(found.key), self._typed_errors)
        return read_range(place, found, start, end)

    def local_path(self, key: str) -> Path | None:
        """Return None: an object must be downloaded."""
        return None

    def download(self, found: StoredObject, target: Path, on_bytes: OnBytes) -> None:
        """Write exactly this object to a file, in parallel ranges, and compare its checksum."""
        access = self._access(found.key)
        place = Place(self._client, self.bucket, access, self._typed_errors)
        Download(place, found, target).run(on_bytes)

    def stage(
        self,
        source: Path,
        key: str,
        staging: str,
        on_bytes: OnBytes,
        sha256: str | None = None,
        *,
        alone: bool = False,
    ) -> PendingUpload | PendingPut:
        """Upload the parts of a multipart upload to the key itself, without completing it."""
        del staging, alone
        metadata = {_DIGEST: sha256} if sha256 else {}
        with opened(source) as descriptor, open(descriptor, "rb", closefd=False) as file:
            size = os.fstat(descriptor).st_size
            content = file.read(SMALL_UPLOAD_BYTES) if size < SMALL_UPLOAD_BYTES else None
        if content is not None:
            check_digest(source.name, hashlib.sha256(content).hexdigest(), sha256)
            on_bytes(len(content))
            put = partial(self._put, key, content, Metadata=metadata)
            return PendingPut(key, put, self._typed_errors)
        pending = PendingUpload(
            self._client,
            self.bucket,
            key,
            content_type(key),
            metadata,
            self._typed_errors,
            source,
            sha256,
            UPLOAD_PART_BYTES,
        )
        return _sent(pending, on_bytes)

    def stage_copy(
        self, origin: Origin, key: str, on_bytes: OnBytes, sha256: str
    ) -> PendingCopy | None:
        """Let the server copy an object of its own, of the same credentials, part by part."""
        other = origin.store
        if not isinstance(other, S3Store) or other.storage != self.storage:
            return None
        pending = PendingCopy(
            self._client,
            self.bucket,
            key,
            content_type(key),
            {_DIGEST: sha256},
            self._typed_errors,
            other.bucket,
            origin.found,
            other.uri(origin.found.key),
        )
        return _sent(pending, on_bytes)

    def copy(self, source: str, target: str) -> None:
        """Copy an object of up to 5 GB: S3 takes no larger one in one request."""
        with self._typed_errors(target):
            answer = self._client.copy_object(
                Bucket=self.bucket,
                Key=target,
                CopySource={"Bucket": self.bucket, "Key": source},
            )
            required(answer, "CopyObjectResult")

    def digest(self, key: str) -> str | None:
        """Return the SHA-256 that was stored with an object, or read the object."""
        found = self.stat(key)
        if found is None or found.sha256 is not None:
            return found.sha256 if found else None
        read_back = self._read(key, Sha256, IfMatch=found.etag)
        return read_back[0] if read_back else None

    def write(self, key: str, content: bytes) -> None:
        """Store a small content under the key, replacing what is there."""
        with self._typed_errors(key):
            self._put(key, content)

    def write_if(self, key: str, content: bytes, *, replaces: str | None) -> None:
        """Store a small content if the key's etag is still the one that is expected."""
        condition = {"IfNoneMatch": "*"} if replaces is None else {"IfMatch": replaces}
        with self._typed_errors(key):
            try:
                self._put(key, content, **condition)
            except Exception as error:
                # An If-Match on an object that is gone is answered with 404.
                if error_code(error) in CONDITION | MISSING:
                    raise ConditionFailedError(key) from error
                raise

    def _put(self, key: str, content: bytes, **condition: Any) -> str:  # noqa: ANN401
        answer = self._client.put_object(
            Bucket=self.bucket, Key=key, Body=content, ContentType=content_type(key), **condition
        )
        etag: str = required(answer, "ETag")
        return etag

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects one by one: DeleteObjects needs a digest that some servers refuse."""
        for key in keys:
            with self._typed_errors(key):
                self._client.delete_object(Bucket=self.bucket, Key=key)

    def discard_staged(self, directory: str, is_ours: Callable[[str], bool], staging: str) -> None:
        """Abort uploads to our names in the directory; delete everything below `staging`."""
        with self._typed_errors(directory):
            pages = self._client.get_paginator("list_multipart_uploads").paginate(
                Bucket=self.bucket, Prefix=directory
            )
            for upload in (item for page in pages for item in page.get("Uploads", [])):
                if is_ours(upload["Key"].removeprefix(directory)):
                    self._client.abort_multipart_upload(
                        Bucket=self.bucket, Key=upload["Key"], UploadId=upload["UploadId"]
                    )
        self.delete(found.key for found in self.list_all(staging))

    @cached_property
    def _client(self) -> S3Client:
        with self._typed_errors(""):
            return client_for(self.storage)

    def _access(self, key: str) -> Access:
        storage = self.storage
        return Access(self._role, self.uri(key), storage.secret_name, storage.endpoint)

    @contextlib.contextmanager
    def _typed_errors(self, key: str) -> Iterator[None]:
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        from modelexport_exporter.storage import s3_errors

        try:
            yield
        except (
            ClientError,
            BotoCoreError,
            Boto3Error,
            ResponseParserError,
            IncompleteAnswerError,
            ValueError,
        ) as error:
            raise s3_errors.from_botocore(error, self._access(key)) from error


M = TypeVar("M", bound=PendingMultipart)


def _sent(pending: M, on_bytes: OnBytes) -> M:
    """Bring all parts of an object to the store; none of them stay if that fails."""
    try:
        pending.send(on_bytes)
    except BaseException:
        with contextlib.suppress(ExportFailure):
            pending.discard()
        raise
    return pending


def _or_none(request: Callable[[], T]) -> T | None:
    """Return None where the key does not exist; a missing bucket is an error."""
    try:
        return request()
    except Exception as error:
        if error_code(error) in MISSING:
            return None
        raise
