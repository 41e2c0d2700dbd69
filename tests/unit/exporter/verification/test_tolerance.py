from __future__ import annotations

import pytest

from modelexport_api.spec import Tolerance as SpecTolerance
from modelexport_exporter.verification.tolerance import FLOORS, choose_tolerance


@pytest.mark.parametrize(
    ("declared", "output", "computed_in", "limit_at_peak_2", "source"),
    [
        pytest.param(None, "float32", ["float32"], 2e-4, "Default", id="float32"),
        pytest.param(None, "float64", ["float64"], 2e-9, "Default", id="float64"),
        pytest.param(None, "float16", [], 2e-2, "Default", id="float16"),
        pytest.param(None, "bfloat16", ["bfloat16"], 1e-1, "Default", id="bfloat16"),
        pytest.param(
            None, "float32", ["float16", "float32"], 2e-2, "Default", id="half weights, float32 out"
        ),
        pytest.param(None, "float32", ["float64"], 2e-4, "Default", id="the output rounds last"),
        pytest.param(
            None, "float32", ["int64", "float32"], 2e-4, "Default", id="token ids are no precision"
        ),
        pytest.param(None, "int64", [], 0.0, "Default", id="integers have none"),
        pytest.param(
            SpecTolerance(rtol=0.01, atol=0.5), "float16", ["bfloat16"], 0.52, "Spec",
            id="what the spec says wins",
        ),
        pytest.param(
            SpecTolerance(), "float32", ["float32"], 0.0, "Spec", id="zeros mean bit for bit"
        ),
    ],
)  # fmt: skip
def test_tolerance(
    declared: SpecTolerance | None,
    output: str,
    computed_in: list[str],
    limit_at_peak_2: float,
    source: str,
) -> None:
    tolerance = choose_tolerance(declared, output, computed_in)
    assert tolerance.limit(2.0) == pytest.approx(limit_at_peak_2)
    assert tolerance.source == source


def test_less_precise_types_have_higher_floors() -> None:
    ordered = [FLOORS[name] for name in ("float64", "float32", "float16", "bfloat16")]
    assert ordered == sorted(ordered)
