"""What values forward accepts is found by calls with clipped inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from modelexport_exporter.diagnosis.accepted.values import limits_of_values

Arrays = Mapping[str, NDArray[Any]]
IDS = np.array([[3, 110, 7]])
FLOATS = np.array([-2.5, 0.5, 2.0], np.float32)


def found(
    accepts: Callable[[Arrays], bool], arrays: Arrays, **ranges: tuple[float, float]
) -> dict[str, str]:
    return {limit.condition: limit.advice for limit in limits_of_values(accepts, arrays, ranges)}


@pytest.mark.parametrize(
    ("accepts", "arrays", "ranges", "said"),
    [
        pytest.param(
            lambda a: a["ids"].max() < 100,
            {"ids": IDS},
            {"ids": (0, 120)},
            {"ids up to 99": "Set range: [0, 99] for input ids."},
            id="a vocabulary",
        ),
        pytest.param(
            lambda a: a["ids"].max() < 100,
            {"ids": np.array([[110]])},
            {"ids": (0, 120)},
            {"ids up to 99": "Set range: [0, 99] for input ids."},
            id="one id",
        ),
        pytest.param(
            lambda a: a["x"].min() >= 0,
            {"x": FLOATS},
            {"x": (-3, 3)},
            {"x from 0 on": "Set range: [0, 3] for input x."},
            id="pixels",
        ),
        pytest.param(
            lambda a: a["y"].min() >= 1,
            {"x": FLOATS, "y": IDS - 5},
            {},
            {"y from 1 on": "Set range: [1, 105] for input y."},
            id="the second input",
        ),
        pytest.param(
            lambda a: a["x"].max() <= 1.25,
            {"x": FLOATS},
            {},
            {"x up to 1.25": "Set range: [-2.5, 1.25] for input x."},
            id="a number between",
        ),
        pytest.param(
            lambda a: not np.isnan(a["x"]).any(),
            {"x": np.array([np.nan, 1.0])},
            {},
            {"x without NaN and infinity": "Declare range for input x."},
            id="NaN",
        ),
        pytest.param(
            lambda a: bool(a["mask"].any(-1).all()),
            {"mask": np.zeros((2, 3), np.bool_)},
            {},
            {"a true in each row of mask": "Set kind: AttentionMask for input mask."},
            id="a mask",
        ),
        pytest.param(
            lambda a: bool(a["mask"].any(-1).all()),
            {"mask": np.zeros((2, 3), np.int64)},
            {"mask": (0, 1)},
            {"a 1 in each row of mask": "Set kind: AttentionMask for input mask."},
            id="a mask of integers",
        ),
        pytest.param(
            lambda a: not a["mask"].all(-1).any(),
            {"mask": np.ones((2, 3), np.bool_)},
            {},
            {"a false in each row of mask": "Set kind: PaddingMask for input mask."},
            id="a mask of padding",
        ),
        pytest.param(
            lambda a: a["ids"].dtype == np.int64 and a["ids"].max() < 40,
            {"ids": FLOATS},
            {"ids": (0, 40)},
            {"ids of type int64": "Set dtype: int64 for input ids."},
            id="ids as floats",
        ),
        pytest.param(
            lambda a: a["ids"].max() < 1_234_567,
            {"ids": np.array([3, 2_000_000])},
            {"ids": (0, 9_999_999)},
            {"ids up to 1234566": "Set range: [0, 1234566] for input ids."},
            id="hashes",
        ),
        pytest.param(
            lambda a: a["k"] <= 4,
            {"k": np.array(7)},
            {"k": (1, 9)},
            {"k up to 4": "Set range: [1, 4] for input k."},
            id="a number",
        ),
        pytest.param(lambda _: False, {"x": FLOATS, "ids": IDS}, {}, {}, id="whatever the values"),
        pytest.param(lambda _: False, {"x": np.zeros((0, 3))}, {}, {}, id="no elements"),
    ],
)
def test_what_is_said(
    accepts: Callable[[Arrays], bool],
    arrays: Arrays,
    ranges: dict[str, tuple[float, float]],
    said: dict[str, str] | set[str],
) -> None:
    limits = found(accepts, arrays, **ranges)
    assert (limits if isinstance(said, dict) else set(limits)) == said


@given(bound=st.integers(0, 999), refused=st.integers(1, 1000))
def test_integer_bounds_are_exact(bound: int, refused: int) -> None:
    if bound >= refused:
        return
    limits = found(lambda a: a["ids"].max() <= bound, {"ids": np.array([refused])}, ids=(0, 1000))
    assert set(limits) == {f"ids up to {bound}"}


def test_dtypes_stay() -> None:
    def accepts(arrays: Arrays) -> bool:
        return arrays["x"].dtype == np.float16 and bool(arrays["x"].max() < 1)

    assert "x from" not in str(found(accepts, {"x": np.array([3.0], np.float16)}, x=(0, 5)))
    assert "x up to" in str(found(accepts, {"x": np.array([3.0], np.float16)}, x=(0, 5)))
