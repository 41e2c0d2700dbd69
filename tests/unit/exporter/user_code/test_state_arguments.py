"""Buffers as arguments and results of a module's forward."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from modelexport_api.reasons import Reason
from modelexport_exporter.call.module_state import ModuleState
from modelexport_exporter.call.signature import signature_of
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.user_code.state_arguments import with_state_arguments


class Cell(nn.Module):
    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2))
        self.calls = 0
        self.last: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        self.calls += 1
        self.last = x * torch.nan
        return self.total * 2


class Steps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = Cell()

    def forward(self, x: torch.Tensor, scale: float = 1.0, **options: Any) -> torch.Tensor:  # noqa: ANN401
        result: torch.Tensor = self.cell(x) * scale
        return result


def test_a_buffer_is_taken_and_returned() -> None:
    plain = Steps()
    module = with_state_arguments(plain, ["cell.total"])
    given = torch.tensor([1.0, 2.0])
    for _ in range(2):
        result, total = module(torch.ones(2), cell_total=given)
        assert result.tolist() == [4.0, 6.0]
        assert total.tolist() == [2.0, 3.0]
    assert given.tolist() == [1.0, 2.0], "forward writes into a copy"
    assert plain.cell.total.tolist() == [0.0, 0.0], "the module's own buffer stays"
    assert list(signature_of(module).parameters) == ["x", "scale", "cell_total", "options"]
    assert [*module.state_dict()] == [*plain.state_dict()]


def test_a_failure_leaves_the_buffer() -> None:
    module = with_state_arguments(Steps(), ["cell.total"])
    before = module.get_buffer("cell.total")
    with pytest.raises(RuntimeError):
        module(torch.ones(3), cell_total=torch.ones(2))
    assert module.get_buffer("cell.total") is before


def test_without_state_it_is_the_module() -> None:
    module = Steps()
    assert with_state_arguments(module, []) is module


@pytest.mark.parametrize(
    ("module", "paths", "words"),
    [
        (Steps(), ["cell.sum"], "no buffer cell.sum; its buffers: cell.total"),
        (nn.Linear(2, 2), ["weight"], "no buffer weight; its buffers: none"),
        (torch.jit.script(nn.BatchNorm1d(2)), ["running_mean"], "contains its graph"),
    ],
)
def test_what_cannot_be_state(module: nn.Module, paths: list[str], words: str) -> None:
    with pytest.raises(ExportFailure, match=words) as caught:
        with_state_arguments(module, paths)
    assert caught.value.reason is Reason.INVALID_MANIFEST


def test_what_a_call_changes_and_its_restoration() -> None:
    module = Steps()
    before = ModuleState(module)
    assert before.changed(module) == []
    module(torch.full((2,), torch.nan))
    changed = ["buffer cell.total", "attribute cell.calls", "attribute cell.last"]
    assert before.changed(module) == changed
    before.restore(module)
    assert before.changed(module) == []
    assert (module.cell.calls, module.cell.last) == (0, None)
