"""Both stores keep the same promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.spec import Storage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage import s3 as s3_module
from modelexport_exporter.storage import s3_download
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.s3 import SMALL_UPLOAD_BYTES
from modelexport_exporter.storage.store import ConditionFailedError, Location, Role

Place = Callable[..., Location]


def put(where: Location, content: bytes) -> None:
    where.store.write(where.key, content)


def test_what_was_written_is_found_read_and_listed(place: Place) -> None:
    where = place("a/b.bin")
    put(where, b"12345")

    found = where.store.stat(where.key)
    assert found is not None
    assert found.size_bytes == 5
    assert where.store.read(where.key) == (b"12345", found)
    directory = place("a/")
    assert [item.key for item in directory.store.list_all(directory.key)] == [where.key]


def test_a_range_is_of_the_object_that_was_found(place: Place) -> None:
    where = place("a.bin")
    put(where, b"0123456789")
    found = where.store.stat(where.key)
    assert found is not None
    assert where.store.read_range(found, 2, 5) == b"234"
    assert where.store.read_range(found, 0, 10) == b"0123456789"
    put(where, b"another content")
    with pytest.raises(ExportFailure) as refused:
        where.store.read_range(found, 2, 5)
    assert refused.value.reason is Reason.SOURCE_CHANGED


def test_what_is_not_there_is_none_and_empty(place: Place) -> None:
    where = place("nothing")
    assert where.store.stat(where.key) is None
    assert where.store.read(where.key) is None
    assert where.store.list_all(where.key + "/") == []
    assert where.store.names(where.key + "/", 10) == []
    where.store.delete([where.key])


def test_names_are_those_directly_below(place: Place) -> None:
    put(place("dir/x"), b"")
    put(place("dir/sub/y"), b"")
    put(place("dirty"), b"")
    directory = place("dir/")
    assert directory.store.names(directory.key, 10) == ["sub/", "x"]


def test_a_conditional_write_wins_once(place: Place) -> None:
    where = place("manifest.json")
    where.store.write_if(where.key, b"first", replaces=None)
    with pytest.raises(ConditionFailedError):
        where.store.write_if(where.key, b"second", replaces=None)

    answer = where.store.read(where.key)
    assert answer is not None
    content, found = answer
    assert content == b"first"
    where.store.write_if(where.key, b"third!", replaces=found.etag)
    with pytest.raises(ConditionFailedError):
        where.store.write_if(where.key, b"fourth!!", replaces=found.etag)
    answer = where.store.read(where.key)
    assert answer is not None
    assert answer[0] == b"third!"


def test_replacing_what_is_gone_fails_the_condition(place: Place) -> None:
    where = place("manifest.json")
    with pytest.raises(ConditionFailedError):
        where.store.write_if(where.key, b"x", replaces='"0123"')


def test_a_staged_file_is_unseen_until_it_is_published(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_download, "PART_BYTES", 5 << 20)
    monkeypatch.setattr(s3_module, "UPLOAD_PART_BYTES", 5 << 20)
    content = bytes(range(256)) * 4096 * 11  # 11 MiB: several parts in both directions
    source = tmp_path / "source.bin"
    source.write_bytes(content)
    final, staging = place("model.data"), place(".staging/x/")
    put(final, b"old")
    moved: list[int] = []

    pending = final.store.stage(source, final.key, staging.key, moved.append)
    answer = final.store.read(final.key)
    assert answer is not None
    assert answer[0] == b"old"
    pending.publish()

    assert sum(moved) == len(content)
    found = final.store.stat(final.key)
    assert found is not None
    moved.clear()
    target = tmp_path / "target.bin"
    final.store.download(found, target, moved.append)
    assert target.read_bytes() == content
    assert sum(moved) == len(content)


def test_what_a_killed_process_staged_is_discarded_by_name(
    place: Place, root: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source = tmp_path / "source.bin"
    source.write_bytes(bytes(SMALL_UPLOAD_BYTES))
    for name in ("ours", "theirs"):
        where = place(f"out/{name}")
        where.store.stage(source, where.key, place(f"out/.staging/{name}-1/").key, lambda _n: None)
    out = place("out/")

    out.store.discard_staged(out.key, lambda name: name == "ours", place("out/.staging/ours-").key)

    if not root.startswith("s3:"):
        assert [Path(item.key).name for item in out.store.list_all(out.key)] == ["theirs"]
    else:
        client = request.getfixturevalue("s3").client()
        bucket = request.getfixturevalue("bucket")
        uploads = client.list_multipart_uploads(Bucket=bucket)["Uploads"]
        assert [upload["Key"] for upload in uploads] == ["out/theirs"]


def test_an_empty_object_can_be_downloaded(place: Place, tmp_path: Path) -> None:
    where = place("empty")
    put(where, b"")
    found = where.store.stat(where.key)
    assert found is not None
    where.store.download(found, tmp_path / "empty", lambda _moved: None)
    assert (tmp_path / "empty").read_bytes() == b""


def test_an_object_replaced_after_it_was_seen_is_not_downloaded(
    place: Place, tmp_path: Path
) -> None:
    where = place("model.pt")
    put(where, b"old")
    found = where.store.stat(where.key)
    assert found is not None
    put(where, b"new")
    with pytest.raises(ExportFailure) as caught:
        where.store.download(found, tmp_path / "x", lambda _moved: None)
    assert caught.value.reason is Reason.SOURCE_CHANGED
    assert "was replaced" in caught.value.message


def test_names_that_urls_would_cut_are_kept(place: Place, root: str, storage: Storage) -> None:
    name = "step=10 #7/weights?.pt" if root.startswith("s3") else "step=10 7/weights.pt"
    put(place(name.replace(" ", "%20") if root.startswith("file") else name), b"x")
    where = locate(place(name).uri, storage, Role.SOURCE)
    assert where.store.stat(where.key) is not None


@pytest.mark.s3
@pytest.mark.parametrize(
    ("role", "reason"),
    [
        (Role.SOURCE, Reason.ACCESS_DENIED),
        (Role.DESTINATION, Reason.DESTINATION_DENIED),
    ],
)
def test_wrong_keys_are_refused_without_being_shown(
    s3: object, bucket: str, monkeypatch: pytest.MonkeyPatch, role: Role, reason: Reason
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAWRONG")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    endpoint = s3.endpoint  # type: ignore[attr-defined]
    storage = Storage(endpoint=endpoint, region="us-east-1", secret_name="training-keys")
    where = locate(f"s3://{bucket}/model.pt", storage, role)
    with pytest.raises(ExportFailure) as caught:
        where.store.write(where.key, b"x")
    assert caught.value.reason is reason
    assert "training-keys" in caught.value.hint
    assert "very-secret" not in str(caught.value) + caught.value.hint


@pytest.mark.s3
def test_a_missing_bucket_is_named(s3: object, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3.environment().items():  # type: ignore[attr-defined]
        monkeypatch.setenv(name, value)
    storage = Storage(endpoint=s3.endpoint)  # type: ignore[attr-defined]
    where = locate("s3://no-such-bucket/x", storage, Role.SOURCE)
    with pytest.raises(ExportFailure) as caught:
        where.store.names("", 1)
    assert caught.value.reason is Reason.SOURCE_NOT_FOUND
    assert "bucket does not exist" in caught.value.message


def test_a_server_that_is_down_is_worth_another_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    storage = Storage(endpoint="http://127.0.0.1:1", region="us-east-1")
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    where = locate("s3://bucket/x", storage, Role.SOURCE)
    with pytest.raises(ExportFailure) as caught:
        where.store.stat(where.key)
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    assert caught.value.describe().retryable


@pytest.mark.s3
@pytest.mark.parametrize("staged", [False, True])
def test_a_page_in_a_bucket_opens_in_a_browser(
    s3: object, bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, staged: bool
) -> None:
    for name, value in s3.environment().items():  # type: ignore[attr-defined]
        monkeypatch.setenv(name, value)
    storage = Storage(endpoint=s3.endpoint)  # type: ignore[attr-defined]
    where = locate(f"s3://{bucket}/report.html", storage, Role.DESTINATION)
    if staged:
        (tmp_path / "report.html").write_bytes(b"<p>")
        where.store.stage(tmp_path / "report.html", where.key, "", lambda _moved: None).publish()
    else:
        put(where, b"<p>")
    head = s3.client().head_object(Bucket=bucket, Key=where.key)  # type: ignore[attr-defined]
    assert head["ContentType"] == "text/html; charset=utf-8"


@pytest.mark.s3
def test_a_manifest_in_a_bucket_says_that_it_is_json(
    s3: object, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3.environment().items():  # type: ignore[attr-defined]
        monkeypatch.setenv(name, value)
    storage = Storage(endpoint=s3.endpoint)  # type: ignore[attr-defined]
    where = locate(f"s3://{bucket}/manifest.json", storage, Role.DESTINATION)
    where.store.write_if(where.key, b"{}", replaces=None)
    head = s3.client().head_object(Bucket=bucket, Key=where.key)  # type: ignore[attr-defined]
    assert head["ContentType"] == "application/json"


@pytest.mark.parametrize(
    ("prefix", "depth", "expected"),
    [
        ("dir/", None, ["dir/sub/deep/z", "dir/sub/y", "dir/suburb", "dir/x"]),
        ("dir/", 0, ["dir/suburb", "dir/x"]),
        ("dir/", 1, ["dir/sub/y", "dir/suburb", "dir/x"]),
        ("dir/sub", 1, ["dir/sub/y", "dir/suburb"]),
        ("dir/sub", None, ["dir/sub/deep/z", "dir/sub/y", "dir/suburb"]),
        ("nowhere/", None, []),
    ],
)
def test_a_listing_is_as_deep_as_requested(
    place: Place, prefix: str, depth: int | None, expected: list[str]
) -> None:
    for name in ("dir/x", "dir/sub/y", "dir/sub/deep/z", "dir/suburb", "dirty"):
        put(place(name), b"")
    where, root = place(prefix), place("")
    found = where.store.list_all(where.key, depth)
    assert [item.key.removeprefix(root.key) for item in found] == expected
