"""Shapes of runs, by the sizes of the inputs' dims."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from modelexport_api.spec import Input
from modelexport_exporter.verification.shapes.observed import (
    Array,
    Named,
    Observed,
    ObservedShapes,
)

INPUTS = (Input(name="x", shape=["n", 4]), Input(name="k", shape=[]))


def doubled(arrays: Mapping[str, Array], _where: str) -> Named:
    return [("y", np.concatenate([arrays["x"], arrays["x"]]))]


def test_runs_of_other_values_are_one() -> None:
    observed = ObservedShapes(INPUTS)
    watched = observed.watching(doubled)
    for n, value in ((3, 0.0), (3, 1.0), (2, 0.0)):
        arrays = {"x": np.full((n, 4), value), "k": np.zeros(())}
        assert watched(arrays, "")[0][1].shape == (2 * n, 4)
    assert observed.runs == (
        Observed({"n": 3}, {"y": (6, 4)}),
        Observed({"n": 2}, {"y": (4, 4)}),
    )
    assert observed.smallest is not None
    assert observed.smallest[0]["x"].shape == (2, 4)
