"""What was once published wrong in silence at some sizes or on one side of a branch, by class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seeds.case import Case, array, integers, tensor
from seeds.harness import Bench, each
from seeds.silent_cases import ANY_REFUSAL, feed, silent

INF = float("inf")


def sizes(row: str, name: str, model: str, *inputs: Any, **options: Any) -> Case:  # noqa: ANN401
    return silent(row, name, f"silent_sizes:{model}", *inputs, **options)


BYTES = tensor("img", 3, 8, 8, low=0, high=255)
N_ROWS = tuple(
    {"x": np.random.default_rng(n).standard_normal((n, 4)).astype("f4")}
    for n in (8, 49, 50, 51, 64, 90, 100, 101, 119)
)

CASES = (
    sizes("S11", "one_size_differs", "OneSizeDiffers", feeds=N_ROWS, or_refused=ANY_REFUSAL),
    sizes(
        "S11",
        "equal_sizes_differ",
        "EqualSizesDiffer",
        tensor("x", "n", 1),
        tensor("y", "m", 1),
        dims={"n": (1, 20), "m": (1, 20)},
        feeds=[{"x": array([[1], [2]]), "y": array([[3], [4]])}],
        or_refused=ANY_REFUSAL,
    ),
    sizes("S11", "pads_to_eight", "PadsToEight", feeds=N_ROWS, or_refused=ANY_REFUSAL),
    sizes("S11", "long_inputs_differ", "LongInputsDiffer", feeds=N_ROWS, or_refused=ANY_REFUSAL),
    sizes("S12", "keeps_share", "KeepsShare", feeds=N_ROWS, dims={"n": (2, 120)}),
    sizes(
        "S12",
        "resizes_by_factor",
        "ResizesByFactor",
        tensor("x", 1, 1, "n", 8),
        dims={"n": (4, 120)},
        feeds=[
            {"x": np.random.default_rng(n).standard_normal((1, 1, n, 8)).astype("f4")}
            for n in (25, 50, 90, 100, 119)
        ],
    ),
    sizes(
        "S12",
        "resizes_by_recomputed_factor",
        "ResizesByFactor",
        tensor("x", 1, 1, "n", 8),
        kwargs={"recompute": True},
        dims={"n": (4, 120)},
        feeds=[
            {"x": np.random.default_rng(n).standard_normal((1, 1, n, 8)).astype("f4")}
            for n in (25, 50, 90, 100, 119)
        ],
    ),
    sizes("S13", "rounds_sizes", "RoundsSizes", feeds=N_ROWS, or_refused=ANY_REFUSAL),
    sizes(
        "S14",
        "scales_large_values",
        "ScalesLargeValues",
        tensor("x", "n", 4),
        feeds=[feed([500, 1, 2, 3])],
        or_refused=ANY_REFUSAL,
    ),
    sizes(
        "S14",
        "looks_for_id",
        "LooksForId",
        integers("ids", 6, high=5000),
        feeds=[feed(1, 777, 3, 4, 5, 6, dtype="int64", name="ids")],
        or_refused=ANY_REFUSAL,
    ),
    sizes(
        "S14",
        "normalises_bytes",
        "NormalisesBytes",
        BYTES,
        feeds=[{"img": np.full((3, 8, 8), 0.5, "f4")}],
        or_refused=ANY_REFUSAL,
    ),
    sizes(
        "S14",
        "compares_with_itself",
        "ComparesWithItself",
        tensor("x", 4),
        feeds=[feed(0, 0, 0, 0)],
        or_refused=ANY_REFUSAL,
    ),
    sizes("S14", "decorated", "Decorated", feeds=[feed([INF, 1, 2, 3])], or_refused=ANY_REFUSAL),
    sizes("S15", "shape_depends_on_batch", "ShapeDependsOnBatch"),
    sizes(
        "S15",
        "scripted_shapes",
        "Script",
        export={"exporter": "TorchScript"},
        or_refused=ANY_REFUSAL,
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_silent(case: Case, bench: Bench) -> None:
    bench.check(case)
