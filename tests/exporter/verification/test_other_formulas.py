"""Files that compute nearly the same formula: each is refused, and the right one verifies.

The mutants damage single nodes; here a whole formula is another, as exporters and optimizers do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from modelexport_api.status import Verdict
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.workers import one_verification
from modelexport_exporter.workers.verify import verify_model
from models.exporting import forget_user_code, silent
from mutants.subject import Subject, export, task_for

CODE = Path(__file__).parents[2] / "models" / "code"


def floats(name: str = "x", *shape: int | str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"name": name, "shape": list(shape or ("n", 6)), **fields}


def ids(low: float, high: float, *shape: int | str) -> dict[str, Any]:
    return {
        "name": "ids",
        "dtype": "int64",
        "shape": list(shape or ("n",)),
        "range": [low, high],
    }


@dataclass(frozen=True)
class Formula:
    """A model of tests/models/code/alike.py."""

    name: str
    inputs: tuple[dict[str, Any], ...] = (floats(),)
    sizes: tuple[int, int] = (1, 12)
    """Of the dim m, if there is one."""


SERIES = (floats("x", "n", "m"),)
MASKED = (*SERIES, {**ids(0, 1, "n", "m"), "name": "mask"})
POINTS = (floats("x", "n", 4), floats("y", "n", 4))
FORMULAS = (
    Formula("VarianceInOnePass"),
    Formula("EpsilonBehindTheRoot"),
    Formula("NegativeIndices", (ids(-11, 10),)),
    Formula("ColumnOrRow", (*SERIES, ids(-9, 9))),
    Formula("IntegersAsFloats", (ids(0, 1 << 40),)),
    Formula("Hash", (ids(0, 100_000),)),
    Formula("FiniteMask", MASKED),
    Formula("EmptyMean", MASKED),
    Formula("Unbiased", SERIES, (2, 40)),
    Formula("RemainderOfFloats"),
    Formula("RarelyNegative"),
    Formula("FarThreshold"),
    Formula("Quantised"),
    Formula("SumOfExponentials"),
    Formula("LogOfSoftmax"),
    Formula("Distances", (floats("x", "n", 4), floats("y", "m", 4))),
    Formula("ProductOfNorms", POINTS),
    Formula("SignOfZero"),
    Formula("RolledFarther", SERIES, (1, 40)),
    Formula("Multiple", SERIES, (2, 40)),
    Formula("Bytes", (ids(-300, 600),)),
    Formula("LastId", (ids(0, 100_000),)),
    Formula("UnknownId", (ids(0, 1_000_000),)),
    Formula("StableOrder", (ids(0, 5, "n", 7),)),
    Formula("ShiftedRight", (ids(-1_000_000, 1_000_000),)),
    Formula("Angles", POINTS),
    Formula("UpperMedian", SERIES, (2, 40)),
    Formula("NoSteps", (*SERIES, ids(0, 40)), (1, 40)),
    Formula("HalfPositions", SERIES, (1, 1000)),
    Formula("LastPosition", SERIES, (1, 1000)),
    Formula("PaddedMeans", SERIES, (4, 40)),
    Formula("MinMax"),
    Formula("MovingMeans", SERIES, (4, 400)),
)


@pytest.fixture(autouse=True)
def _one_test_is_one_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(one_verification, "TIME_BUDGET_SECONDS", 600.0)
    yield
    forget_user_code()


def verified(formula: Formula, directory: Path, *, wrong: bool) -> VerificationOutcome:
    """Return the verdict on a file of one formula, compared with the right one."""
    dims = {"n": (1, 9)}
    if any("m" in entry["shape"] for entry in formula.inputs):
        dims["m"] = formula.sizes

    def subject(kwargs: dict[str, Any]) -> Subject:
        factory = f"alike:{formula.name}"
        return Subject(formula.name.lower(), factory, formula.inputs, dims, kwargs, code=CODE)

    for name in ("file", "original"):
        (directory / name).mkdir()
    converted = export(task_for(subject({"wrong": wrong}), directory / "file"))
    forget_user_code()
    return verify_model(task_for(subject({}), directory / "original"), converted, silent)


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.name)
def test_another_formula_is_refused(formula: Formula, tmp_path: Path) -> None:
    outcome = verified(formula, tmp_path, wrong=True)
    assert outcome.summary.verdict is Verdict.MISMATCH
    assert outcome.blame is not None
    assert outcome.blame.node


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.name)
def test_the_right_formula_verifies(formula: Formula, tmp_path: Path) -> None:
    assert verified(formula, tmp_path, wrong=False).summary.verdict is Verdict.VERIFIED
