"""What was once published wrong in silence at the ends of floats: NaN, and saturation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from seeds.case import Case, array, tensor
from seeds.harness import Bench, each

NAN, INF = math.nan, math.inf


def values(row: str, name: str, model: str, *inputs: Any, **options: Any) -> Case:  # noqa: ANN401
    given = inputs or (tensor("x", "n", 4),)
    return Case(row, name, f"extremes:{model}", given, dims={"n": (1, 120)}, edges=(), **options)


def feed(*rows: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"x": array(list(rows), dtype="float32")}


CASES = (
    values(
        "S4",
        "nan_of_extremes",
        "NanOfExtremes",
        feeds=[feed([NAN, 1, 3, 2], [1, NAN, 2, NAN], [1, 2, 3, NAN], [NAN] * 4)],
    ),
    values(
        "S4",
        "nan_of_masks",
        "NanOfMasks",
        feeds=[feed([NAN, 1, 3, 2], [-INF, NAN, INF, 0])],
        export={"exporter": "TorchScript", "opset": 11},
    ),
    values("S4", "nan_of_functions", "NanOfFunctions", feeds=[feed([NAN, 0, -1, 0.5])]),
    values(
        "S10",
        "powers_of_sigmoid",
        "PowersOfSigmoid",
        tensor("x", "n", 4, low=-80, high=80),
        feeds=[feed([-80, -60, -20, -18.1], [-17, -30, 0, 20], [-25, -35, -19, -40])],
    ),
    values(
        "S10",
        "angle_of_tanh",
        "AngleOfTanh",
        tensor("x", "n", low=-20, high=20),
        feeds=[
            {"x": np.linspace(7.4, 9.4, 100).astype("f4")},
            {"x": np.linspace(-9.4, -7.4, 100).astype("f4")},
        ],
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_extremes(case: Case, bench: Bench) -> None:
    bench.check(case)
