from __future__ import annotations

import json

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint import files as checkpoint_files
from modelexport_exporter.failure import ExportFailure

INDEX = "model.safetensors.index.json"


@pytest.mark.parametrize(
    ("names", "index"),
    [
        (["a.safetensors"], None),
        (["x.safetensors.index.json"], "x.safetensors.index.json"),
        ([INDEX, "consolidated.safetensors.index.json"], INDEX),
    ],
)
def test_find_index(names: list[str], index: str | None) -> None:
    assert checkpoint_files.find_index(names, "uri") == index


def test_two_unusual_indexes_are_ambiguous() -> None:
    with pytest.raises(ExportFailure) as caught:
        checkpoint_files.find_index(["a" + INDEX, "b" + INDEX], "uri")
    assert caught.value.reason is Reason.FORMAT_UNKNOWN


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["a.safetensors", "b.safetensors"], Reason.FORMAT_UNKNOWN),
        (["pytorch_model.bin"], Reason.SOURCE_NOT_FOUND),
    ],
)
def test_without_an_index_there_must_be_one_file(names: list[str], reason: Reason) -> None:
    with pytest.raises(ExportFailure) as caught:
        checkpoint_files.only_file(names, "uri")
    assert caught.value.reason is reason
    assert names[0] in caught.value.message


@pytest.mark.parametrize(
    "index",
    [
        b"",
        b"[]",
        b"{}",
        b'{"weight_map": {}}',
        b'{"weight_map": ["a.safetensors"]}',
        json.dumps({"weight_map": {"w": "../secret.safetensors"}}).encode(),
        json.dumps({"weight_map": {"w": "/etc/passwd"}}).encode(),
        json.dumps({"weight_map": {"w": 7}}).encode(),
    ],
)
def test_an_index_that_is_none_is_corrupt(index: bytes) -> None:
    with pytest.raises(ExportFailure) as caught:
        checkpoint_files.shards(index, "uri")
    assert caught.value.reason is Reason.CHECKPOINT_CORRUPT
