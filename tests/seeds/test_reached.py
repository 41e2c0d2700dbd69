"""Parts of a model that random samples do not reach: sought, compared, or the file is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from modelexport_api.reasons import Reason
from seeds.case import Case, array, integers, refused, tensor
from seeds.harness import Bench, each

X = tensor("x", 3, 4)
IMAGE = tensor("image", 1, 3, 12, 12)
TRACE = {"exporter": "TorchScript"}
REFUSED = refused(Reason.CAPTURE_FAILED, Reason.VERIFICATION_FAILED, Reason.BRANCH_NOT_COMPARED)


def case(row: str, name: str, model: str, *inputs: Any, **options: Any) -> Case:  # noqa: ANN401
    return Case(row, name, f"reached:{model}", inputs or (X,), **{"edges": (), **options})


def lost(name: str, model: str, *inputs: Any, **options: Any) -> Case:  # noqa: ANN401
    """Return a case of a branch that a trace loses, with feeds that take its other side."""
    return case("S14", name, model, *inputs, or_refused=REFUSED, **options)


def feed(*rows: Any, dtype: str = "float32", name: str = "x") -> dict[str, Any]:  # noqa: ANN401
    return {name: array(list(rows), dtype=dtype)}


def bright(seed: int) -> dict[str, Any]:
    return {"image": np.random.default_rng(seed).standard_normal((1, 3, 12, 12)).astype("f4") * 30}


LARGE = feed([5000, -4000, 2, 3], [1, 2, 3, 4], [900, -6000, 7, 8])
IDS = integers("ids", 6, low=0, high=5000)

CASES = (
    lost("branch_threshold", "Threshold", feeds=[LARGE]),
    lost(
        "branch_listed_id",
        "ListedId",
        IDS,
        feeds=[feed(1, 777, 3, 4, 5, 6, dtype="int64", name="ids")],
    ),
    lost(
        "branch_equal_inputs",
        "EqualInputs",
        X,
        tensor("y", 3, 4),
        feeds=[{**LARGE, "y": LARGE["x"]}],
    ),
    lost("branch_read_earlier", "ReadEarlier", feeds=[LARGE]),
    lost("branch_helper", "Helper", feeds=[LARGE]),
    lost("branch_halving", "Halving", feeds=[LARGE]),
    lost("branch_nested", "Nested", feeds=[LARGE]),
    lost("branch_learned", "Learned", feeds=[LARGE]),
    case("S14", "branch_impossible", "Impossible", expected=REFUSED),
    case("S14", "branch_raises", "Raises", export=TRACE),
    case("S14", "branch_warns", "Warns", export=TRACE),
    case("S5", "detector_sought", "Detector", IMAGE, feeds=[bright(1), bright(2)]),
    case("S5", "early_return", "EarlyReturn", IMAGE, feeds=[bright(1)], or_refused=REFUSED),
    case(
        "S5",
        "finds_nothing",
        "FindsNothing",
        IMAGE,
        expected=refused(Reason.OUTPUT_NOT_COMPARED),
    ),
    case(
        "S5",
        "finds_nothing_allowed",
        "FindsNothing",
        IMAGE,
        spec={"verification": {"provider": "CPU", "benchmark": False, "allowIncomplete": True}},
    ),
    case("S5", "empty_by_size", "EmptyBySize"),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
