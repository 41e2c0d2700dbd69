"""What Python computes once during a capture: right, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from modelexport_api.reasons import Reason
from seeds.case import Case, array, integers, refused, tensor
from seeds.harness import Bench, each

REFUSED = refused(
    Reason.CAPTURE_FAILED,
    Reason.VERIFICATION_FAILED,
    Reason.DYNAMIC_DIM_SPECIALIZED,
    Reason.BRANCH_NOT_COMPARED,
)
X, Y = tensor("x", "n", 2), tensor("y", "m", 2)
PAIR = {"n": (1, 60), "m": (1, 60)}
LONG = {"n": (1, 4096)}


def frozen(row: str, name: str, model: str, *inputs: Any, **options: Any) -> Case:  # noqa: ANN401
    given = {"edges": (), "or_refused": REFUSED, **options}
    return Case(row, name, f"frozen:{model}", inputs, **given)


def rows(count: int, name: str = "x", width: int = 2) -> dict[str, Any]:
    drawn = np.random.default_rng(count).standard_normal((count, width))
    return {name: drawn.astype("f4")}


SIGNAL = tensor("x", 3, 16)
LIKE_TEMPLATE = {"x": np.sin(np.arange(16.0) ** 2).astype("f4") * np.array([[2], [1], [-1]], "f4")}
SIX = integers("ids", 6, high=500)
IDS_OF_RULES = {"ids": array([4, 8, 15, 16, 23, 42], dtype="int64")}
IDS = integers("ids", 3, high=500)

CASES = (
    frozen(
        "S11",
        "sizes_multiply",
        "SizesMultiply",
        X,
        Y,
        dims=PAIR,
        feeds=[rows(17) | rows(23, "y")],
    ),
    frozen(
        "S11",
        "sizes_in_proportion",
        "SizesInProportion",
        X,
        Y,
        dims=PAIR,
        feeds=[rows(34) | rows(55, "y")],
    ),
    frozen(
        "S11",
        "aspect_ratio",
        "AspectRatio",
        tensor("x", "h", "w"),
        dims={"h": (8, 200), "w": (8, 200)},
        feeds=[rows(16 * k, width=9 * k) for k in (1, 5, 11)],
    ),
    frozen(
        "S11",
        "sizes_on_lines",
        "SizesOnLines",
        X,
        Y,
        dims={"n": (1, 4096), "m": (1, 4096)},
        feeds=[{"x": np.full((3127, 2), 0.5, "f4"), "y": np.full((2124, 2), 0.25, "f4")}],
    ),
    frozen("S11", "size_as_text", "SizeAsText", X, dims=LONG, feeds=[rows(3109)]),
    frozen("S11", "shape_as_text", "ShapeAsText", X, dims=LONG, feeds=[rows(3109)]),
    frozen(
        "S14", "ids_as_text", "IdsAsText", IDS, feeds=[{"ids": array([12, 7, 3], dtype="int64")}]
    ),
    frozen("S14", "wake_word_script", "scripted_wake_word", SIGNAL, feeds=[LIKE_TEMPLATE]),
    frozen(
        "S14",
        "wake_word_cond",
        "WakeWordByCond",
        SIGNAL,
        feeds=[LIKE_TEMPLATE],
        or_refused=None,
    ),
    frozen("S14", "never_by_sum", "NeverBySum", SIGNAL, expected=REFUSED, or_refused=None),
    frozen("S14", "listed_ids", "ListedIds", SIX, feeds=[IDS_OF_RULES]),
    frozen("S14", "table_of_ids", "TableOfIds", SIX, feeds=[IDS_OF_RULES]),
    frozen(
        "S14",
        "value_and_size",
        "ValueAndSize",
        X,
        integers("a", high=60),
        dims={"n": (1, 40)},
        feeds=[rows(18) | {"a": array(41, dtype="int64").reshape(())}],
    ),
    frozen(
        "S14",
        "size_behind_values",
        "SizeBehindValues",
        X,
        dims={"n": (1, 40)},
        feeds=[{"x": rows(13)["x"] + 3}],
    ),
    frozen(
        "S14",
        "writes_log",
        "WritesLog",
        SIGNAL,
        export={"exporter": "TorchScript"},
        or_refused=None,
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_frozen(case: Case, bench: Bench) -> None:
    bench.check(case)
