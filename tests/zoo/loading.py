"""Loads a checkpoint of the small network in `wrapping`, and says how it was refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from modelexport_exporter.checkpoint.load import LoadedModel, load_module
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import Rung
from zoo.code.wrapping import Net
from zoo.tasks import spec_for, task_for

State = dict[str, Any]
X = torch.randn(5, 4)
NET = "wrapping:Net"


def load(
    checkpoint: Path, tmp_path: Path, factory: str | None = NET, **source: object
) -> LoadedModel:
    """Return what loading gives."""
    spec = spec_for(factory, source=source)
    return load_module(task_for(spec, checkpoint, tmp_path, rung=Rung.DYNAMO))


def refused(checkpoint: Path, tmp_path: Path, factory: str | None = NET, **source: object) -> str:
    """Return the failure: its reason and its message."""
    with pytest.raises(ExportFailure) as caught:
        load(checkpoint, tmp_path, factory, **source)
    assert caught.value.hint
    return str(caught.value)


def same(loaded: LoadedModel, net: Net) -> bool:
    """Return whether the loaded model computes what the network does, in eval mode."""
    return torch.allclose(loaded.module(X), net(X), atol=1e-6) and not loaded.module.training


def saved(content: object, path: Path, name: str = "model.ckpt") -> Path:
    """Write a file with torch.save."""
    torch.save(content, path / name)
    return path / name


def prefixed(prefix: str) -> Callable[[State], State]:
    """Return how a wrapper names the weights."""
    return lambda state: {f"{prefix}{name}": value for name, value in state.items()}
