"""The judgement itself: what it calls a difference, what it allows, and of what."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from seeds.case import Array, Case, array, tensor
from seeds.compare import cancellation, difference
from seeds.harness import build_module
from seeds.test_torchvision_families import CASES as FAMILIES

NAN, INF = float("nan"), float("inf")
COLUMN = {"x": np.full((100, 4), 8.0, dtype=np.float32)}


@pytest.mark.parametrize(
    ("want", "have", "same"),
    [
        pytest.param(array(1, 2, 3), array(1, 2, 3), True, id="equal"),
        pytest.param(array(1, 2, 3), array(1, 2, 3.00001), True, id="rounding"),
        pytest.param(array(1, 2, 3), array(1, 2, 3.01), False, id="one_wrong"),
        pytest.param(array(1e4, 1e4, 1e-3), array(1e4, 1e4, 0.5), True, id="below_the_typical"),
        pytest.param(array(1e4, 1e-3, 1e-3), array(1e4, 1e-3, 2e-3), False, id="small_beside_peak"),
        pytest.param(array(NAN, INF), array(NAN, INF), True, id="specials"),
        pytest.param(array(NAN, 1), array(0, 1), False, id="nan_lost"),
        pytest.param(array(INF, 1), array(3e38, 1), False, id="infinity_lost"),
        pytest.param(array(1, 2), array(1, 2, dtype="float64"), False, id="dtype"),
        pytest.param(array(1, 2), array([[1, 2]]), False, id="shape"),
        pytest.param(array(1, 2, dtype="int64"), array(1, 3, dtype="int64"), False, id="integers"),
        pytest.param(array(0.0), array(1e-6), False, id="zero_is_zero"),
    ],
)
def test_difference(want: Array, have: Array, same: bool) -> None:
    problem, _ = difference(want, have, 1e-4)
    assert (problem == "") is same, problem


def test_a_sum_may_cancel_to_its_rounding() -> None:
    nothing = np.zeros(4, dtype=np.float32)
    slack = cancellation(COLUMN, nothing)
    assert 1e-6 < slack < 1e-4
    assert difference(nothing, nothing + np.float32(slack / 2), 1e-4, slack)[0] == ""
    assert difference(nothing, nothing + np.float32(slack * 2), 1e-4, slack)[0] != ""


@pytest.mark.parametrize(
    "want",
    [
        pytest.param(np.zeros((100, 4), dtype=np.float32), id="nothing_is_reduced"),
        pytest.param(np.zeros(4, dtype=np.int64), id="integers"),
        pytest.param(np.zeros((0, 4), dtype=np.float32), id="no_elements"),
    ],
)
def test_nothing_else_may(want: Array) -> None:
    assert cancellation(COLUMN, want) == 0.0


@pytest.mark.parametrize("name", ["torchvision_mobilenet_v3_small"])
def test_the_reference_has_the_weights_of_the_checkpoint(name: str, tmp_path: Path) -> None:
    """Both are made by one function, in two processes: its answer must not depend on when."""
    case = next(case for case in FAMILIES if case.name == name)
    written = torch.load(case.checkpoint(build_module(case), tmp_path), weights_only=True)
    reference = build_module(case).state_dict()
    assert set(written) == set(reference)
    assert all(torch.equal(written[key], reference[key]) for key in written)


def test_declared_ranges_bind_every_feed() -> None:
    from seeds.feeds import feeds_for

    case = Case("", "bounded", "", (tensor("x", "n", 4, low=-2.5, high=2.5),), {"n": (1, 9)})
    assert max(float(np.abs(feed["x"]).max()) for feed in feeds_for(case)) <= 2.5
