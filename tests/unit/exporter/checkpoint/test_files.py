from __future__ import annotations

import json

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.spec import Format
from modelexport_exporter.checkpoint import files as checkpoint_files
from modelexport_exporter.checkpoint.files import Contents
from modelexport_exporter.checkpoint.layout import Layout
from modelexport_exporter.core.errors import ExportFailure

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


HUGGING_FACE = (Format.HUGGING_FACE, Layout.SHARDS)
PICKLED_HUGGING_FACE = (Format.HUGGING_FACE, Layout.PICKLED_SHARDS)
TENSORS = (Format.SAFETENSORS, Layout.SHARDS)
DISTRIBUTED = (Format.DISTRIBUTED_CHECKPOINT, Layout.DISTRIBUTED)
BIN_INDEX = "pytorch_model.bin.index.json"


@pytest.mark.parametrize(
    ("names", "declared", "kind", "files", "index"),
    [
        pytest.param(
            ["config.json", "flax_model.msgpack", "model.safetensors", "pytorch_model.bin"],
            Format.AUTO,
            HUGGING_FACE,
            ("config.json", "model.safetensors"),
            None,
            id="Hugging Face: safetensors before all others",
        ),
        pytest.param(
            ["config.json", INDEX, "optimizer.pt", "training_args.bin"],
            Format.HUGGING_FACE,
            HUGGING_FACE,
            ("config.json", INDEX),
            INDEX,
            id="Hugging Face: shards",
        ),
        pytest.param(
            ["config.json", "pytorch_model.bin", "tf_model.h5"],
            Format.AUTO,
            PICKLED_HUGGING_FACE,
            ("config.json", "pytorch_model.bin"),
            None,
            id="Hugging Face: torch.save",
        ),
        pytest.param(
            ["config.json", BIN_INDEX],
            Format.AUTO,
            PICKLED_HUGGING_FACE,
            ("config.json", BIN_INDEX),
            BIN_INDEX,
            id="Hugging Face: shards of torch.save",
        ),
        pytest.param(
            ["config.json", "model.safetensors"],
            Format.SAFETENSORS,
            TENSORS,
            ("model.safetensors",),
            None,
            id="declared: only the weights",
        ),
        pytest.param(
            ["config.json", "weights.safetensors"],
            Format.AUTO,
            TENSORS,
            ("weights.safetensors",),
            None,
            id="a config of somebody else",
        ),
        pytest.param(
            [".metadata", "__0_0.distcp", "__1_0.distcp", "logs/"],
            Format.AUTO,
            DISTRIBUTED,
            (".metadata", "__0_0.distcp", "__1_0.distcp"),
            None,
            id="DistributedCheckpoint",
        ),
        pytest.param(
            [BIN_INDEX, "notes.txt"],
            Format.AUTO,
            (Format.STATE_DICT, Layout.PICKLED_SHARDS),
            (BIN_INDEX,),
            BIN_INDEX,
            id="shards of torch.save",
        ),
    ],
)
def test_choose(
    names: list[str],
    declared: Format,
    kind: tuple[Format, Layout],
    files: tuple[str, ...],
    index: str | None,
) -> None:
    assert checkpoint_files.choose(names, declared, "uri") == Contents(*kind, files, index)


@pytest.mark.parametrize(
    ("names", "declared", "lacks"),
    [
        (["model.safetensors"], Format.HUGGING_FACE, "config.json"),
        (["config.json", "tf_model.h5"], Format.HUGGING_FACE, "model.safetensors or "),
        (["__0_0.distcp"], Format.DISTRIBUTED_CHECKPOINT, ".metadata"),
        (["config.json", "tf_model.h5"], Format.AUTO, "no checkpoint"),
    ],
)
def test_what_a_directory_lacks_is_named(names: list[str], declared: Format, lacks: str) -> None:
    with pytest.raises(ExportFailure) as caught:
        checkpoint_files.choose(names, declared, "uri")
    assert caught.value.reason is Reason.SOURCE_NOT_FOUND
    assert lacks in caught.value.message


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
