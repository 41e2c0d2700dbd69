"""Inputs that lead to integers only, through views, in-place ops and reads of Python."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from modelexport_exporter.verification.numerics.integer_arithmetic import integers_only

Forward = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def written(t: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(4, dtype=torch.int64)
    total[1:].add_(t[0])
    return total.float() + ids


@pytest.mark.parametrize(
    ("forward", "exact"),
    [
        pytest.param(lambda t, ids: t * 60 + ids // 7, {"t", "ids"}, id="integers"),
        pytest.param(lambda t, ids: t * 60 + ids.float().long(), {"t"}, id="through a float"),
        pytest.param(lambda t, ids: (t == 777) & (ids > 3), {"t", "ids"}, id="compared"),
        pytest.param(
            lambda t, ids: torch.rand(9)[ids % 9] + t.sum(), set(), id="a float looked up"
        ),
        pytest.param(lambda t, ids: t + 1 if t.max() > 3 else ids, {"ids"}, id="a branch"),
        pytest.param(lambda t, ids: ids * int(t.sum()), {"ids"}, id="read by Python"),
        pytest.param(written, set(), id="written into a view, both become floats"),
        pytest.param(lambda t, ids: (t / 3).floor().long() + ids, {"ids"}, id="divided"),
    ],
)
def test_inputs_that_lead_to_integers_only(forward: Forward, exact: set[str]) -> None:
    inputs = {"t": torch.arange(4), "ids": torch.arange(4)}
    assert integers_only(inputs, lambda: [forward(inputs["t"], inputs["ids"])]) == exact


def test_floats_are_no_integers() -> None:
    inputs = {"x": torch.ones(3)}
    assert integers_only(inputs, lambda: [inputs["x"] > 0]) == frozenset()
