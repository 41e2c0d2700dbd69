"""Operators that onnxruntime computes otherwise than torch, through the pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from modelexport_api.reasons import Reason
from seeds.case import Array, Case, integers, refused, tensor
from seeds.harness import Bench, each

N = {"n": (1, 40)}
END = 2**62
LARGE = np.array(
    [
        [2**31, 2**31 + 3, 2**31 - 1, 2**53 + 1],
        [1_700_000_000_123, 1_701_000_000_456, -3, 0],
        [END, END, END, -END],
        [-(2**31) - 1, -(2**31), 2**53 + 1, 2**53 + 3],
    ],
    np.int64,
)
LONG = integers("x", "n", 4, low=-END, high=END)
OTHER = integers("y", "n", 4, low=-END, high=END)
SMALL = integers("n", "n", 4, low=0, high=70)
INT = integers("x", "n", 4, low=-(2**31), high=2**31 - 1, dtype="int32")
INTS = np.array([[2**31 - 1, -(2**31), 46_341, 3], [65_536, 2**24 + 1, -1, 0]], np.int32)
X = tensor("x", "n", 4)
SCRIPT = {"exporter": "TorchScript"}
SCORES = np.array([[-200, -300, -250, -200], [-90, 1, 2, 3], [-120, -110, -30, -150]], "f4")
ALLOWED = np.array([[0, 1, 1, 0], [0, 0, 0, 0], [0, 1, 1, 1]], bool)
NOTHING = {"x": np.zeros((5, 4), "f4")}
ONE = {"x": np.ones((1, 4), "f4")}
TIES = np.linspace(-1.75, 1.75, 15, dtype="f4")
GRID = np.stack(np.meshgrid(TIES, TIES), -1)[None].astype("f4")
IMAGE = np.arange(2 * 4 * 6, dtype="f4").reshape(1, 2, 4, 6)
PIXELS = (tensor("image", 1, 2, 4, 6), tensor("grid", 1, "n", "n", 2, low=-2, high=2))


def kernels(name: str, model: str, *inputs: Any, row: str = "S10", **options: Any) -> Case:  # noqa: ANN401
    """Return a case that must be right."""
    return Case(row, name, f"kernels:{model}", inputs, **{"dims": N, "edges": (), **options})


def feed(**arrays: Array) -> list[dict[str, Array]]:
    return [arrays]


def both(name: str, model: str, *inputs: Any, **options: Any) -> tuple[Case, Case]:  # noqa: ANN401
    """Return the case by any route, and as TorchScript writes it."""
    return (
        kernels(name, model, *inputs, **options),
        kernels(f"{name}_script", model, *inputs, export=SCRIPT, **options),
    )


SAMPLERS = tuple(
    kernels(
        f"grid_sample_at_ties_{mode}_{padding}{'_corners' if corners else ''}",
        "Sampler",
        *PIXELS,
        kwargs={"padding": padding, "mode": mode, "corners": corners},
        feeds=feed(image=IMAGE, grid=GRID),
        nightly=padding != "reflection",
    )
    for mode in ("nearest", "bilinear")
    for padding in ("zeros", "border", "reflection")
    for corners in (False, True)
)
CASES = (
    *both("large_totals", "Ledger", LONG, feeds=feed(x=LARGE), row="S3"),
    *both("large_bounds", "Bounds", LONG, OTHER, feeds=feed(x=LARGE, y=LARGE[::-1]), row="S3"),
    *both("large_powers", "Powers", LONG, SMALL, feeds=feed(x=LARGE, n=LARGE * 0 + 64), row="S3"),
    kernels("powers_of_int32", "Powers", INT, {**SMALL, "dtype": "int32"}, row="S3",
            feeds=feed(x=INTS, n=INTS * 0 + 31)),
    kernels("wrapping_hash", "Hash", LONG, feeds=feed(x=LARGE), row="S3"),
    *both("impossible_states_first", "Evidence", X, tensor("allowed", "n", 4, dtype="bool"),
          feeds=feed(x=SCORES, allowed=ALLOWED)),
    *both("logarithm_of_sigmoid", "Surprise", X,
          feeds=feed(x=np.array([[-30, -80, 17, -18.5], [0, 60, -1, 3]], "f4"))),
    kernels("nothing_detected", "Detections", X, feeds=[NOTHING, ONE]),
    # A trace does not note the ranks of what is found.
    kernels("nothing_detected_script", "Detections", X, feeds=[NOTHING, ONE], export=SCRIPT,
            or_refused=refused(Reason.VERIFICATION_FAILED)),
    kernels("average_of_nothing", "Average", X, feeds=[NOTHING, ONE]),
    *SAMPLERS,
)  # fmt: skip


@pytest.mark.parametrize("case", each(CASES))
def test_kernels(case: Case, bench: Bench) -> None:
    bench.check(case)
