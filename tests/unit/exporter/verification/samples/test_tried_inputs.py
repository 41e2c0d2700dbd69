from __future__ import annotations

import numpy as np

from modelexport_exporter.core.tried_input import TriedInput
from modelexport_exporter.verification.samples.tried_inputs import MOST_SHAPES, TriedInputs


def test_shapes_ends_and_kinds_of_all_samples() -> None:
    tried = TriedInputs()
    tried.add({"x": np.array([1.5, np.nan]), "ids": np.array([[3]]), "no": np.zeros(0)}, "NaN")
    tried.add({"x": np.array([-2.0]), "ids": np.array([[7]]), "no": np.zeros(0)}, "normal")
    tried.add({"x": np.array([-2.0]), "ids": np.array([[5]]), "no": np.zeros(0)}, "normal")
    assert tried.all() == (
        TriedInput("x", ((2,), (1,)), 0, -2.0, 1.5, 1, ("NaN", "normal")),
        TriedInput("ids", ((1, 1),), 0, 3.0, 7.0, 0, ("NaN", "normal")),
        TriedInput("no", ((0,),), 0, None, None, 0, ("NaN", "normal")),
    )


def test_infinity_and_booleans() -> None:
    tried = TriedInputs()
    tried.add({"x": np.array([np.inf, -np.inf]), "flag": np.array([True])}, "infinity")
    x, flag = tried.all()
    assert (x.low, x.high, x.not_finite) == (None, None, 1)
    assert (flag.low, flag.high) == (1.0, 1.0)


def test_many_shapes_are_counted() -> None:
    tried = TriedInputs()
    for size in range(MOST_SHAPES + 3):
        tried.add({"x": np.zeros(size)}, "normal")
    (x,) = tried.all()
    assert (len(x.shapes), x.more_shapes) == (MOST_SHAPES, 3)
