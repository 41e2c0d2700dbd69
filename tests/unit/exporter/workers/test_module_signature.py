"""Which modules can share a graph, by their tensors and submodules."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from modelexport_exporter.workers.module_signature import ModuleSignature


def tied() -> nn.Module:
    module = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    module[1].weight = module[0].weight
    return module


PLAIN = [nn.Linear(4, 4), nn.Linear(4, 4)]


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        (nn.Linear(4, 3), nn.Linear(4, 3), ""),
        (tied(), tied(), ""),
        (nn.Linear(4, 3), nn.Linear(4, 5), "weight is float32 [5, 4], not float32 [3, 4]"),
        (nn.Linear(4, 3), nn.Linear(4, 3).half(), "weight is float16 [3, 4], not float32 [3, 4]"),
        (nn.Linear(4, 3), nn.Linear(4, 3, bias=False), "bias is in one only"),
        (nn.Linear(4, 3, bias=False), nn.Linear(4, 3), "bias is in the other only"),
        (nn.Sequential(*PLAIN), tied(), "1.weight is float32 [4, 4], the same as 0.weight"),
        (nn.BatchNorm1d(4), nn.BatchNorm1d(4, eps=1e-3), "its modules differ: "),
        (nn.Sequential(nn.ReLU()), nn.Sequential(nn.GELU()), "its modules differ: "),
    ],
    ids=str,
)
def test_what_differs_is_said(one: nn.Module, other: nn.Module, difference: str) -> None:
    found = ModuleSignature.of(one).difference(ModuleSignature.of(other))
    assert found.startswith(difference)
    assert bool(found) == bool(difference)


def test_values_are_no_difference() -> None:
    one, other = nn.Linear(4, 3), nn.Linear(4, 3)
    with torch.no_grad():
        other.weight.fill_(7)
    assert not ModuleSignature.of(one).difference(ModuleSignature.of(other))
