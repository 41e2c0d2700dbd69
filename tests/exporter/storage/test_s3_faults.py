"""What an S3 server answers when something is wrong: a real one, behind a proxy with faults."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bed.s3 import S3Server
from modelexport_api.reasons import Reason
from modelexport_api.spec import Source, Storage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.source.fetch import identify
from modelexport_exporter.storage import s3_download, s3_retries, s3_stream
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.s3 import SMALL_UPLOAD_BYTES
from modelexport_exporter.storage.store import Location, Role
from throttling import Throttle, answer_of

pytestmark = pytest.mark.s3

At = Callable[[str], Location]


@pytest.fixture
def proxy(proxy: Throttle, monkeypatch: pytest.MonkeyPatch) -> Throttle:
    """The proxy; repeats do not wait."""
    monkeypatch.setattr(s3_retries, "_LONGEST_WAIT", 0.01)
    return proxy


@pytest.fixture
def at(proxy: Throttle, bucket: str) -> At:
    """Names a key of the bucket, through the proxy."""

    def located(key: str, role: Role = Role.DESTINATION) -> Location:
        return locate(f"s3://{bucket}/{key}", Storage(endpoint=proxy.endpoint), role)

    return located


def times(count: int, method: str, path: str) -> Callable[[str, str], bool]:
    """A rule for the first requests of a kind."""
    left = [count]

    def rule(command: str, where: str) -> bool:
        hit = command == method and re.search(path, where) is not None and left[0] > 0
        left[0] -= hit
        return hit

    return rule


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (408, ""),
        (425, ""),
        (429, ""),
        (400, "BadDigest"),
        (400, "IncompleteBody"),
        (400, "XAmzContentSHA256Mismatch"),
    ],
)
def test_what_passes_is_asked_again(at: At, proxy: Throttle, status: int, code: str) -> None:
    proxy.status, proxy.answer = status, answer_of(code) if code else b""
    proxy.turns_away = times(2, "PUT", "/key")
    where = at("key")
    where.store.write(where.key, b"content")
    assert len(proxy.turned_away) == 2
    answer = where.store.read(where.key)
    assert answer is not None
    assert answer[0] == b"content"


@pytest.mark.parametrize("status", [408, 425, 429])
def test_a_server_that_stays_busy_is_worth_another_run(
    at: At, proxy: Throttle, status: int
) -> None:
    proxy.status, proxy.answer = status, b""
    proxy.turns_away = times(100, "PUT", "/key")
    where = at("key")
    with pytest.raises(ExportFailure) as caught:
        where.store.write(where.key, b"content")
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    assert len(proxy.turned_away) == s3_retries.ATTEMPTS


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (400, "ExpiredToken", "does not accept the credentials (ExpiredToken)"),
        (403, "RequestTimeTooSkewed", "the clock is wrong"),
        (403, "AccessDenied", "answered AccessDenied"),
    ],
)
def test_a_refused_head_is_explained_by_a_get(
    at: At, proxy: Throttle, status: int, code: str, words: str
) -> None:
    proxy.status, proxy.answer = status, answer_of(code)
    proxy.turns_away = lambda method, path: method in {"HEAD", "GET"} and "/key" in path
    where = at("key", Role.SOURCE)  # type: ignore[call-arg]
    with pytest.raises(ExportFailure) as caught:
        where.store.stat(where.key)
    assert caught.value.reason is Reason.ACCESS_DENIED
    assert words in caught.value.message


def test_who_may_get_but_not_head_is_answered(at: At, proxy: Throttle) -> None:
    where = at("key")
    where.store.write(where.key, b"content")
    direct = where.store.stat(where.key)
    proxy.status = 403
    proxy.turns_away = lambda method, _path: method == "HEAD"
    assert where.store.stat(where.key) == direct


@pytest.mark.parametrize("path", ["partNumber=1", "uploadId=[^&]*$"], ids=["part", "complete"])
def test_an_upload_that_others_aborted_begins_again(
    at: At, proxy: Throttle, tmp_path: Path, path: str
) -> None:
    content = b"x" * SMALL_UPLOAD_BYTES
    (tmp_path / "file").write_bytes(content)
    proxy.status, proxy.answer = 404, answer_of("NoSuchUpload")
    proxy.turns_away = times(1, "PUT" if "part" in path else "POST", path)
    where, moved = at("key"), list[int]()
    where.store.stage(tmp_path / "file", where.key, "", moved.append).publish()
    assert len(proxy.turned_away) == 1
    assert sum(moved) == len(content)
    answer = where.store.read(where.key)
    assert answer is not None
    assert answer[0] == content


def test_a_transfer_that_stands_still_ends(
    at: At, proxy: Throttle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte now and then: the socket's timeout never passes."""
    monkeypatch.setattr(s3_stream, "WINDOW_SECONDS", 0.4)
    monkeypatch.setattr(s3_download, "PART_ATTEMPTS", 2)
    where = at("key")
    where.store.write(where.key, bytes(1000))
    found = where.store.stat(where.key)
    assert found is not None
    proxy.drips = times(100, "GET", "/key")
    begin = time.monotonic()
    with pytest.raises(ExportFailure) as caught:
        where.store.download(found, tmp_path / "file", lambda _moved: None)
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    assert "stands still" in caught.value.message
    assert len(proxy.dripped) == 2
    assert time.monotonic() - begin < 20, "100 s at the rate of the proxy"
    proxy.drips = times(1, "GET", "/key")
    where.store.download(found, tmp_path / "file", lambda _moved: None)
    assert (tmp_path / "file").read_bytes() == bytes(1000), "continued where it stood still"


def test_a_sent_body_that_stands_still_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    from botocore.exceptions import ResponseStreamingError

    monkeypatch.setattr(s3_stream, "WINDOW_SECONDS", 0.02)
    body = s3_stream.SentBody(bytes(3 * s3_stream.SEND_BYTES))
    assert len(body.read(10)) == s3_stream.SEND_BYTES
    monkeypatch.setattr(s3_stream, "LEAST_BYTES_PER_SECOND", 1 << 40)
    time.sleep(0.03)
    with pytest.raises(ResponseStreamingError):
        body.read(10)
    body.seek(0)
    assert body.read(10)


def test_a_distributed_checkpoint_of_1201_files_is_found_whole(
    s3: S3Server, bucket: str, at: At
) -> None:
    client = s3.client()
    names = {".metadata", *(f"__{rank}_0.distcp" for rank in range(1200))}
    for name in names:
        client.put_object(Bucket=bucket, Key=f"run/{name}", Body=name.encode())
    where = locate(f"s3://{bucket}/run/", Storage(endpoint=s3.endpoint), Role.SOURCE)
    identity = identify(where, Source(uri=where.uri))
    assert {found.key.removeprefix("run/") for found in identity.files} == names
    assert len(where.store.names(where.key, 7)) == 7


@pytest.mark.parametrize("size", [7, SMALL_UPLOAD_BYTES, 20 * SMALL_UPLOAD_BYTES])
def test_only_the_bytes_that_were_verified_are_sent(at: At, tmp_path: Path, size: int) -> None:
    where, path, content = at("model.data"), tmp_path / "model.data", bytes(size)
    path.write_bytes(content[1:] + b"x")
    digest = hashlib.sha256(content).hexdigest()
    with pytest.raises(ExportFailure, match="expected") as caught:
        where.store.stage(path, where.key, "", lambda _moved: None, digest)
    assert caught.value.reason is Reason.ARTIFACT_CHANGED
    assert where.store.stat(where.key) is None
    path.write_bytes(content)
    where.store.stage(path, where.key, "", lambda _moved: None, digest).publish()
    answer = where.store.stat(where.key)
    assert answer is not None
    assert (answer.size_bytes, answer.sha256) == (size, digest)
