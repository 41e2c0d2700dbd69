"""Weights of a lazy module that was never called have no values: the refusal says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.checkpoint.formats import detect
from modelexport_exporter.checkpoint.layout import Layout
from modelexport_exporter.checkpoint.nesting import find_state_dict
from modelexport_exporter.checkpoint.read_state import read_state
from modelexport_exporter.checkpoint.torch_save import read_pickled
from modelexport_exporter.core.errors import ExportFailure
from unit.api.manifests import VALID


def test_a_lazy_module_without_values_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(nn.Sequential(nn.LazyLinear(4)).state_dict(), path)
    checkpoint = read_pickled(path, Layout.ZIP, allow_pickle=False)
    with pytest.raises(ExportFailure, match=r"0\.weight has no value.*lazy module") as caught:
        find_state_dict(checkpoint, None)
    assert "Call the model once" in caught.value.hint


def test_also_beside_weights_with_values(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(nn.Sequential(nn.Linear(3, 3), nn.LazyLinear(4)).state_dict(), path)
    spec = ModelExportSpec.model_validate(VALID["spec"])
    with pytest.raises(ExportFailure, match=r"1\.weight has no value.*lazy module"):
        read_state(path, detect(path), spec)
