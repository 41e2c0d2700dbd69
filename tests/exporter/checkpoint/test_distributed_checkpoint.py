"""Directories of torch.distributed.checkpoint, written by torch in one process."""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.distributed.checkpoint.state_dict_saver import save as save_distributed

from modelexport_api.spec import Format
from zoo.code.wrapping import Net
from zoo.loading import State, X, load, prefixed, refused, same


@pytest.fixture
def net() -> Net:
    torch.manual_seed(3)
    return Net().eval()


def distributed(content: State, path: Path) -> Path:
    save_distributed(content, checkpoint_id=path / "dcp", no_dist=True)
    return path / "dcp"


@pytest.mark.parametrize(
    "nest",
    [
        pytest.param(dict, id="flat"),
        pytest.param(lambda state: {"model": state, "step": 3}, id="under model"),
        pytest.param(lambda state: {"state": {"model": state}}, id="one level below"),
        pytest.param(prefixed("model.module."), id="prefixes"),
    ],
)
def test_a_distributed_checkpoint(nest: Callable[[State], State], net: Net, tmp_path: Path) -> None:
    optimizer = torch.optim.Adam(net.parameters())
    net(X).sum().backward()
    optimizer.step()
    content = nest(net.state_dict())
    if "step" in content:
        content["optimizer"] = optimizer.state_dict()
    loaded = load(distributed(content, tmp_path), tmp_path)
    assert loaded.format is Format.DISTRIBUTED_CHECKPOINT
    assert same(loaded, net)


def cut(path: Path, keep: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        pytest.param(lambda d: cut(d / ".metadata", 0.5), "CheckpointCorrupt.*metadata", id="cut"),
        pytest.param(lambda d: cut(d / "__0_0.distcp", 0.5), "cut off", id="cut shard"),
        pytest.param(lambda d: (d / "__0_0.distcp").unlink(), "__0_0.distcp.*missing", id="lost"),
        pytest.param(
            lambda d: (d / ".metadata").write_bytes(pickle.dumps(os.system)),
            "UnsafeCheckpoint.*posix.system",
            id="code",
        ),
        pytest.param(
            lambda d: (d / ".metadata").write_bytes(
                (d / ".metadata").read_bytes().replace(b"__0_0.distcp", b"../model.pth")
            ),
            "../model.pth, which is missing in the directory",
            id="another directory",
        ),
    ],
)
def test_a_damaged_distributed_checkpoint(
    damage: Callable[[Path], object], said: str, net: Net, tmp_path: Path
) -> None:
    directory = distributed(net.state_dict(), tmp_path)
    torch.save(net.state_dict(), tmp_path / "model.pth")
    damage(directory)
    text = refused(directory, tmp_path)
    assert re.search(said, text), text
