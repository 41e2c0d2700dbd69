"""The search for inputs that reach something, on models that random inputs leave alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from modelexport_api.spec import Input
from modelexport_exporter.verification.seeking.ascent import ascend
from modelexport_exporter.verification.seeking.candidates import candidates
from modelexport_exporter.verification.seeking.goals import DependsOnValues, Elements

X = Input.model_validate({"name": "x", "dtype": "float32", "shape": [2, 3]})
Y = Input.model_validate({"name": "y", "dtype": "float32", "shape": [2, 3]})
SMALL = Input.model_validate({"name": "x", "dtype": "float32", "shape": [2, 3], "range": [-1, 1]})
IDS = Input.model_validate({"name": "ids", "dtype": "int64", "shape": [6], "range": [0, 5000]})
ARRAYS = {"x": np.linspace(-1, 1, 6, dtype="f4").reshape(2, 3)}
torch.manual_seed(0)
LAYER = torch.nn.Linear(3, 4)


def _to_values(arrays: Any) -> dict[str, torch.Tensor]:  # noqa: ANN401
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


@pytest.mark.parametrize(
    ("holds", "given"),
    [
        (lambda x: x.abs().max() > 400, X),
        (lambda x: x.mean() < -30, X),
        (lambda x: x.min() > 0.2, X),
        (lambda x: torch.sigmoid(LAYER(x).sum() - 12) > 0.5, X),
        (lambda x: LAYER(x).max() > LAYER(torch.ones(3)).max() * 2, X),
        (lambda x: x.sum().item() > 5.5, SMALL),
    ],
)
def test_steps_reach_what_is_compared(
    holds: Callable[[torch.Tensor], object], given: Input
) -> None:
    def call(values: Any) -> object:  # noqa: ANN401
        return bool(holds(values["x"]))

    assert not call(_to_values(ARRAYS))
    moved = list(ascend([given], ARRAYS, call, _to_values))
    assert any(call(_to_values(arrays)) for arrays in moved)
    low, high = given.range or (-np.inf, np.inf)
    assert all(((arrays["x"] >= low) & (arrays["x"] <= high)).all() for arrays in moved)


def test_what_compares_nothing_does_not_move() -> None:
    assert not list(ascend([X], ARRAYS, lambda values: values["x"] * 2, _to_values))


@pytest.mark.parametrize(
    ("holds", "inputs"),
    [
        (lambda a: (a["x"] == a["y"]).all(), [X, Y]),
        (lambda a: a["x"].mean() > 900, [X]),
        (lambda a: (a["ids"] == 777).any() and (a["ids"] != 777).any(), [IDS]),
        (lambda a: (a["ids"] == 776).all(), [IDS]),
        (lambda a: (a["x"] == 0.5).all(), [X]),
    ],
)
def test_candidates_hold_what_is_rare(holds: Callable[[Any], object], inputs: list[Input]) -> None:
    state = {"anchor": np.full((2, 3), 0.5, dtype="f4")}
    assert any(holds(arrays) for arrays in candidates(inputs, {}, (777,), state))


def test_candidates_stay_within_ranges() -> None:
    for arrays in candidates([SMALL, IDS], {}, (777, 9000), {}):
        assert np.abs(arrays["x"]).max() <= 1
        assert arrays["ids"].min() >= 0
        assert arrays["ids"].max() <= 5000


def test_elements_are_sought_for_each_output() -> None:
    goal = Elements([0, 1])
    some, none = torch.ones(2), torch.ones(0)
    assert not goal.reaches([none, none])
    assert goal.reaches([some, none])
    assert goal.is_open
    assert not goal.reaches([some, none])
    assert goal.reaches([none, some])
    assert not goal.is_open


@pytest.mark.parametrize(
    ("function", "depends"),
    [
        (lambda x: x[:, 3:], False),
        (lambda x: x[x > 2], True),
        (lambda x: x[: int(x.max())], True),
        (lambda x: x.nonzero(), True),
    ],
)
def test_shapes_that_depend_on_values(
    function: Callable[[torch.Tensor], torch.Tensor],
    depends: bool,
) -> None:
    with torch.no_grad(), DependsOnValues() as ops:
        function(torch.ones(2, 3))
    assert ops.found is depends


class Loud(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool(torch.sigmoid(x.sum() - 20) > 0.5):
            return x * 2
        return x


def test_steps_follow_what_a_script_compares() -> None:
    script = torch.jit.script(Loud())
    moved = ascend([X], ARRAYS, lambda values: script(values["x"]), _to_values)
    assert any(arrays["x"].sum() > 20 for arrays in moved)
