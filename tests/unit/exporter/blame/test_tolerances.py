"""The order of tolerances: near the outputs' error first, the coarsest dtype's last."""

from __future__ import annotations

import math

import pytest

from modelexport_exporter.blame.tolerances import QUANTIZED, tolerances
from modelexport_exporter.verification.numerics.tolerance import UNCALIBRATED

SINGLE, HALF = UNCALIBRATED["float32"], UNCALIBRATED["float16"]


@pytest.mark.parametrize(
    ("floats", "off", "allowed", "quantized", "expected"),
    [
        pytest.param({"float32"}, [1.0], [1e-6], False, [SINGLE], id="a large error"),
        pytest.param({"float32"}, [5e-6], [2e-6], False, [1e-6, SINGLE / 10], id="a small one"),
        pytest.param({"float32"}, [5e-6], [0.0], False, [5e-7, SINGLE / 10], id="an exact model"),
        pytest.param(
            {"float32", "float16"}, [1e-4], [1e-6], False, [1e-5, HALF / 10], id="one value of half"
        ),
        pytest.param({"float16"}, [HALF], [HALF / 2], False, [HALF / 10], id="all of half"),
        pytest.param({"float32"}, [1.0], [1e-6], True, [QUANTIZED], id="bytes"),
        pytest.param({"float32"}, [1.0, 5e-6], [0.1, 2e-6], False, [1e-6, SINGLE / 10], id="two"),
        pytest.param({"float32"}, [], [], False, [SINGLE], id="no output was recorded"),
        pytest.param(set(), [math.inf], [0.0], False, [SINGLE], id="integers"),
    ],
)
def test_tolerances(
    floats: set[str],
    off: list[float],
    allowed: list[float],
    quantized: bool,
    expected: list[float],
) -> None:
    found = tolerances(floats, off, allowed, quantized=quantized)
    assert found == pytest.approx(expected)
