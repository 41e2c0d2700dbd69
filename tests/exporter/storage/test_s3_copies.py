"""Objects that the S3 server copies itself: unseen until they are published, and pinned."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from boto3.s3.transfer import TransferConfig

from bed.s3 import S3Server
from modelexport_api.reasons import Reason
from modelexport_api.spec import Storage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage import s3_copy
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.store import Location, Origin, Pending, Role
from throttling import Throttle, answer_of

pytestmark = pytest.mark.s3

At = Callable[..., Location]
CONTENT = os.urandom(12 << 20)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def at(proxy: Throttle, bucket: str) -> At:
    """Names a key of the bucket, through the proxy."""

    def located(key: str, role: Role = Role.DESTINATION, bucket: str = bucket) -> Location:
        return locate(f"s3://{bucket}/{key}", Storage(endpoint=proxy.endpoint), role)

    return located


def found(source: Location) -> Origin:
    stored = source.store.stat(source.key)
    assert stored is not None
    return Origin(source.store, stored)


def staged(origin: Origin, target: Location) -> Pending:
    pending = target.store.stage_copy(origin, target.key, lambda _count: None, SHA256)
    assert pending is not None
    return pending


def test_the_server_copies_and_nobody_sees_it_before(
    at: At, proxy: Throttle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_copy, "COPY_PART_BYTES", 5 << 20)
    source, target = at("run/model.pt", Role.SOURCE), at("out/copy.data")
    source.store.write(source.key, CONTENT)
    proxy.sent_bytes = 0
    moved: list[int] = []

    pending = target.store.stage_copy(found(source), target.key, moved.append, SHA256)
    assert pending is not None
    assert target.store.stat(target.key) is None
    etag = pending.publish()

    stored = target.store.stat(target.key)
    assert stored is not None
    assert (stored.etag, stored.sha256, stored.size_bytes) == (etag, SHA256, len(CONTENT))
    assert target.store.read(target.key) == (CONTENT, stored)
    assert sorted(proxy.copied) == [
        "bytes=0-5242879",
        "bytes=10485760-12582911",
        "bytes=5242880-10485759",
    ]
    assert proxy.sent_bytes < 4096, "what completes the upload, and nothing of the content"
    assert sum(moved) == len(CONTENT)


def test_a_source_that_was_uploaded_in_parts_is_copied_in_parts(
    at: At, s3: S3Server, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its checksum is one of the checksums of its parts, as training jobs upload checkpoints.
    monkeypatch.setattr(s3_copy, "COPY_PART_BYTES", 5 << 20)
    (tmp_path / "model.pt").write_bytes(CONTENT)
    in_parts = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20)
    s3.client().upload_file(str(tmp_path / "model.pt"), bucket, "model.pt", Config=in_parts)
    source, target = at("model.pt", Role.SOURCE), at("copy.data")
    staged(found(source), target).publish()
    assert target.store.read(target.key) == (CONTENT, target.store.stat(target.key))


def test_another_bucket_of_the_server_is_a_source(at: At, s3: S3Server) -> None:
    other = s3.bucket()
    try:
        source, target = at("model.pt", Role.SOURCE, other), at("copy.data")
        source.store.write(source.key, CONTENT)
        staged(found(source), target).publish()
        assert target.store.digest(target.key) == SHA256
    finally:
        s3.delete_bucket(other)


def test_a_replaced_source_is_not_copied(at: At, s3: S3Server, bucket: str) -> None:
    source, target = at("model.pt", Role.SOURCE), at("copy.data")
    source.store.write(source.key, CONTENT)
    origin = found(source)
    source.store.write(source.key, b"other" * (3 << 20))

    with pytest.raises(ExportFailure) as caught:
        staged(origin, target)

    assert caught.value.reason is Reason.SOURCE_CHANGED
    assert source.uri in caught.value.message
    assert "Uploads" not in s3.client().list_multipart_uploads(Bucket=bucket)
    assert target.store.stat(target.key) is None


def test_a_deleted_source_is_not_copied(at: At) -> None:
    source, target = at("model.pt", Role.SOURCE), at("copy.data")
    source.store.write(source.key, CONTENT)
    origin = found(source)
    source.store.delete([source.key])
    with pytest.raises(ExportFailure) as caught:
        staged(origin, target)
    assert caught.value.reason is Reason.SOURCE_CHANGED


def test_a_version_is_copied_although_a_newer_one_is_there(at: At, s3: S3Server) -> None:
    versioned = s3.bucket(versioned=True)
    try:
        source, target = at("model.pt", Role.SOURCE, versioned), at("copy.data")
        source.store.write(source.key, CONTENT)
        origin = found(source)
        assert origin.found.version_id is not None
        source.store.write(source.key, b"newer" * (3 << 20))
        staged(origin, target).publish()
        stored = target.store.stat(target.key)
        assert target.store.read(target.key) == (CONTENT, stored)
    finally:
        s3.delete_bucket(versioned)


def test_a_copy_that_others_aborted_is_made_again(at: At, s3: S3Server, bucket: str) -> None:
    source, target = at("model.pt", Role.SOURCE), at("copy.data")
    source.store.write(source.key, CONTENT)
    pending = staged(found(source), target)
    client = s3.client()
    for upload in client.list_multipart_uploads(Bucket=bucket)["Uploads"]:
        client.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
    pending.publish()
    assert target.store.digest(target.key) == SHA256


def test_a_copy_that_was_aborted_is_not_made_of_another_source(
    at: At, s3: S3Server, bucket: str
) -> None:
    source, target = at("model.pt", Role.SOURCE), at("copy.data")
    source.store.write(source.key, CONTENT)
    pending = staged(found(source), target)
    client = s3.client()
    for upload in client.list_multipart_uploads(Bucket=bucket)["Uploads"]:
        client.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
    source.store.write(source.key, b"other" * (3 << 20))
    with pytest.raises(ExportFailure) as caught:
        pending.publish()
    assert caught.value.reason is Reason.SOURCE_CHANGED
    assert target.store.stat(target.key) is None


def test_a_discarded_copy_leaves_nothing(at: At, s3: S3Server, bucket: str) -> None:
    source, target = at("model.pt", Role.SOURCE), at("copy.data")
    source.store.write(source.key, CONTENT)
    staged(found(source), target).discard()
    assert "Uploads" not in s3.client().list_multipart_uploads(Bucket=bucket)


def test_a_server_that_cannot_copy_says_so(at: At, proxy: Throttle) -> None:
    source, target = at("model.pt", Role.SOURCE), at("copy.data")
    source.store.write(source.key, CONTENT)
    origin = found(source)
    proxy.status, proxy.answer = 501, answer_of("NotImplemented")
    proxy.turns_away = lambda method, path: method == "PUT" and "partNumber" in path
    with pytest.raises(ExportFailure):
        staged(origin, target)


def test_what_is_elsewhere_is_not_copied_by_the_server(at: At, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    path.write_bytes(CONTENT)
    source, target = locate(f"file://{path}", Storage(), Role.SOURCE), at("copy.data")
    origin = found(source)
    assert target.store.stage_copy(origin, target.key, lambda _count: None, SHA256) is None
    directory = locate(f"file://{tmp_path}/out/", Storage(), Role.DESTINATION)
    key = directory.child("copy.data").key
    assert directory.store.stage_copy(origin, key, lambda _count: None, SHA256) is None
