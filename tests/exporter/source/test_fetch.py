"""Which files are fetched, from either kind of store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.spec import Source
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.source import fetch
from modelexport_exporter.storage.store import Location, Role

Place = Callable[..., Location]


def put(where: Location, content: bytes) -> Location:
    where.store.write(where.key, content)
    return where


def source(where: Location) -> Source:
    return Source(uri=where.uri)


def fetched(where: Location, tmp_path: Path, spec: Source | None = None) -> fetch.Fetched:
    spec = spec or source(where)
    identity = fetch.identify(where, spec)
    return fetch.fetch(where, identity, spec, tmp_path / "checkpoint", lambda *_progress: None)


def test_a_file_keeps_its_name_and_content(place: Place, tmp_path: Path) -> None:
    where = put(place("run/model.safetensors", Role.SOURCE), b"weights")
    result = fetched(where, tmp_path)
    assert result.checkpoint.name == "model.safetensors"
    assert result.checkpoint.read_bytes() == b"weights"
    assert result.digests()[0].sha256 == hashlib.sha256(b"weights").hexdigest()


def test_of_a_directory_only_the_shards_of_the_index(place: Place, tmp_path: Path) -> None:
    shards = {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-1.safetensors"}
    put(place("run/model.safetensors.index.json"), json.dumps({"weight_map": shards}).encode())
    for name in ("model-1.safetensors", "model-2.safetensors", "optimizer.pt", "old.safetensors"):
        put(place(f"run/{name}"), name.encode())
    where = place("run/", Role.SOURCE)

    result = fetched(where, tmp_path)

    names = [file.name for file in result.digests()]
    wanted = ["model.safetensors.index.json", "model-1.safetensors", "model-2.safetensors"]
    assert names == wanted
    assert all((result.checkpoint / name).is_file() for name in wanted)
    if where.store.local_path(where.key) is None:
        assert sorted(path.name for path in result.checkpoint.iterdir()) == sorted(wanted)


MODEL = ["config.json", "model.safetensors"]
PARTS = [".metadata", "__0_0.distcp", "__1_0.distcp"]


@pytest.mark.parametrize(
    ("wanted", "others"),
    [
        pytest.param(
            MODEL,
            ["flax_model.msgpack", "tf_model.h5", "pytorch_model.bin", "training_args.bin"],
            id="Hugging Face",
        ),
        pytest.param(PARTS, ["optimizer.pt", "events.log"], id="DistributedCheckpoint"),
    ],
)
def test_of_a_directory_only_what_belongs_to_the_checkpoint(
    wanted: list[str], others: list[str], place: Place, tmp_path: Path
) -> None:
    for name in wanted + others:
        put(place(f"run/{name}"), name.encode())
    where = place("run/", Role.SOURCE)
    result = fetched(where, tmp_path)
    assert [file.name for file in result.digests()] == wanted
    if where.store.local_path(where.key) is None:
        assert sorted(path.name for path in result.checkpoint.iterdir()) == sorted(wanted)


def test_a_missing_shard_is_named(place: Place) -> None:
    index = {"weight_map": {"a": "model-1.safetensors"}}
    put(place("run/model.safetensors.index.json"), json.dumps(index).encode())
    where = place("run/", Role.SOURCE)
    with pytest.raises(ExportFailure) as caught:
        fetch.identify(where, source(where))
    assert caught.value.reason is Reason.SOURCE_NOT_FOUND
    assert "model-1.safetensors" in caught.value.message


def test_a_directory_without_its_slash_is_recognised(place: Place) -> None:
    put(place("run/model.safetensors"), b"x")
    where = place("run", Role.SOURCE)
    with pytest.raises(ExportFailure) as caught:
        fetch.identify(where, source(where))
    assert "is a directory" in caught.value.message


def test_an_empty_prefix_says_so(place: Place) -> None:
    where = place("nowhere/model.pt", Role.SOURCE)
    with pytest.raises(ExportFailure) as caught:
        fetch.identify(where, source(where))
    assert "it is empty or does not exist" in caught.value.message


def test_the_fingerprint_changes_with_the_content(place: Place) -> None:
    where = put(place("model.pt", Role.SOURCE), b"one")
    first = fetch.identify(where, source(where)).fingerprint
    assert fetch.identify(where, source(where)).fingerprint == first
    put(where, b"two!")
    assert fetch.identify(where, source(where)).fingerprint != first


def test_progress_is_reported_in_bytes(place: Place, tmp_path: Path) -> None:
    where = put(place("model.pt", Role.SOURCE), b"x" * 3_000_000)
    reported: list[tuple[Stage, float, str]] = []
    spec = source(where)
    identity = fetch.identify(where, spec)
    fetch.fetch(where, identity, spec, tmp_path / "c", lambda *progress: reported.append(progress))
    assert reported[-1] == (Stage.FETCH, 1.0, "3.0 MB")


@pytest.mark.s3
def test_a_version_is_fetched_though_a_newer_one_exists(
    s3: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from modelexport_api.spec import Storage
    from modelexport_exporter.storage.locate import locate

    for name, value in s3.environment().items():  # type: ignore[attr-defined]
        monkeypatch.setenv(name, value)
    bucket = s3.bucket(versioned=True)  # type: ignore[attr-defined]
    client = s3.client()  # type: ignore[attr-defined]
    try:
        old = client.put_object(Bucket=bucket, Key="model.pt", Body=b"old")["VersionId"]
        client.put_object(Bucket=bucket, Key="model.pt", Body=b"newer")
        where = locate(
            f"s3://{bucket}/model.pt",
            Storage(endpoint=s3.endpoint),  # type: ignore[attr-defined]
            Role.SOURCE,
        )
        spec = Source(uri=where.uri, version_id=old)
        assert fetched(where, tmp_path, spec).checkpoint.read_bytes() == b"old"
    finally:
        s3.delete_bucket(bucket)  # type: ignore[attr-defined]
