"""Floats at the scales that a model names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from modelexport_api.spec import Input
from modelexport_exporter.sampling.scales import FURTHEST, draw_at_scales, has_scales


def floats(**changes: Any) -> Input:  # noqa: ANN401
    return Input.model_validate({"name": "x", "shape": ["n", 8], "dtype": "float32", **changes})


@pytest.mark.parametrize(
    ("entry", "number", "taken"),
    [
        (floats(), 123_457, True),
        (floats(), -123_457, True),
        (floats(), 768, False),
        (floats(dtype="float16"), 768, True),
        (floats(dtype="float16"), 60_000, False),
        (floats(dtype="bfloat16"), 60_000, True),
        (floats(range=[-1, 1]), 123_457, False),
        (floats(dtype="int64", range=[0, 9_999_999]), 123_457, False),
    ],
    ids=str,
)
def test_which_numbers_are_scales(entry: Input, number: float, taken: bool) -> None:
    assert has_scales([entry], [number]) is taken


def test_halves_and_multiples_of_each_number_are_met() -> None:
    entry = floats()
    arrays = {"x": np.zeros((40, 8), np.float32)}
    drawn = draw_at_scales([entry], arrays, [20_000, 3e6, 5], 0)["x"]
    assert drawn.dtype == np.float32
    largest = np.abs(drawn).max(axis=1)
    for rows, scale in ((largest[::2], 20_000), (largest[1::2], 3e6)):
        assert (0.5 * scale < rows).mean() > 0.9
        assert rows.max() <= FURTHEST * scale
    assert (drawn == 0).any(), "some rows keep ordinary numbers beside"


def test_a_number_alone() -> None:
    drawn = draw_at_scales([floats(shape=[])], {"x": np.zeros((), np.float32)}, [1e5], 1)["x"]
    assert drawn.shape == ()
    assert drawn != 0
