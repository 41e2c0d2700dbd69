"""Where checkpoints of each kind have the bytes of their tensors."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
import safetensors.torch
import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.tensor_places import places_in, stored_files
from modelexport_exporter.core.errors import Incurable
from zoo.tasks import spec_for

SPEC = spec_for("vision.digits:build")
STATE = {"a": torch.arange(12.0).reshape(3, 4), "b": torch.arange(5, dtype=torch.int16)}


def contents(path: Path) -> set[bytes]:
    content = path.read_bytes()
    return {content[place.offset : place.offset + place.length] for place in places_in(path)}


def tensors() -> set[bytes]:
    return {tensor.numpy().tobytes() for tensor in STATE.values()}


def test_torch_save(tmp_path: Path) -> None:
    torch.save({"model": STATE, "step": 3}, tmp_path / "checkpoint")
    assert tensors() <= contents(tmp_path / "checkpoint")


def test_safetensors(tmp_path: Path) -> None:
    safetensors.torch.save_file(STATE, tmp_path / "checkpoint", {"format": "pt"})
    assert tensors() == contents(tmp_path / "checkpoint")


def test_torchscript(tmp_path: Path) -> None:
    module = torch.nn.Linear(3, 4)
    traced = torch.jit.trace(module, torch.zeros(1, 3))  # type: ignore[no-untyped-call]
    traced.save(str(tmp_path / "checkpoint"))
    assert module.weight.detach().numpy().tobytes() in contents(tmp_path / "checkpoint")


def legacy(path: Path) -> None:
    torch.save(STATE, path, _use_new_zipfile_serialization=False)


def compressed(path: Path) -> None:
    stored = path.with_suffix(".stored")
    torch.save(STATE, stored)
    with zipfile.ZipFile(stored) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))


@pytest.mark.parametrize(
    ("save", "words"), [(legacy, "legacy pickle"), (compressed, "records are compressed")]
)
def test_what_has_no_plain_bytes_is_refused(tmp_path: Path, save: object, words: str) -> None:
    path = tmp_path / "checkpoint.pt"
    assert callable(save)
    save(path)
    with pytest.raises(Incurable) as caught:
        stored_files(path, SPEC)
    assert caught.value.reason is Reason.CONTRACT_VIOLATED
    assert "checkpoint.pt has no tensor as plain bytes" in caught.value.message
    assert words in caught.value.message
    assert "safetensors" in caught.value.hint


def test_shards(tmp_path: Path) -> None:
    for name, tensor in STATE.items():
        safetensors.torch.save_file({name: tensor}, tmp_path / f"{name}.safetensors")
    index = {"weight_map": {name: f"{name}.safetensors" for name in STATE}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    (tmp_path / "optimizer.safetensors").write_bytes(b"of no index")
    files = stored_files(tmp_path, SPEC)
    assert [file.path.name for file in files] == ["a.safetensors", "b.safetensors"]
