"""Masks whose rows keep something: as they are drawn, and as they are recognised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.spec import DType, Input, InputKind
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import draw
from modelexport_exporter.sampling.masks import KEPT, masks_hold

DRAWN = [values for values in Values if values not in {Values.GOLDEN, Values.SAMPLER}]


def mask(kind: InputKind, dtype: DType = DType.BOOL) -> Input:
    return Input(name="mask", kind=kind, dtype=dtype, shape=["n", "length"])


@given(
    kind=st.sampled_from(list(KEPT)),
    dtype=st.sampled_from([DType.BOOL, DType.INT64, DType.FLOAT32, DType.UINT8]),
    values=st.sampled_from(DRAWN),
    shape=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    seed=st.integers(0, 9),
)
def test_each_row_keeps_an_element(
    kind: InputKind, dtype: DType, values: Values, shape: tuple[int, int], seed: int
) -> None:
    entry = mask(kind, dtype)
    sizes = dict(zip(("n", "length"), shape, strict=True))
    arrays = draw([entry], Sample(sizes, values, seed))
    assert arrays["mask"].shape == shape
    assert arrays["mask"].dtype == np.dtype(dtype.value)
    assert masks_hold([entry], arrays)


@pytest.mark.parametrize("kind", KEPT)
def test_rows_are_whole_padded_on_either_side_and_with_gaps(kind: InputKind) -> None:
    sample = Sample({"n": 40, "length": 9}, Values.NORMAL, 0)
    kept = draw([mask(kind)], sample)["mask"] == KEPT[kind]
    falls, rises = np.diff(kept.astype(int)) < 0, np.diff(kept.astype(int)) > 0
    assert kept.all(-1).any()
    assert (falls.any(-1) & ~rises.any(-1)).any()
    assert (rises.any(-1) & ~falls.any(-1)).any()
    assert (rises.any(-1) & falls.any(-1)).any()


@pytest.mark.parametrize(
    ("kind", "rows", "holds"),
    [
        (InputKind.ATTENTION_MASK, [[True, False], [False, True]], True),
        (InputKind.ATTENTION_MASK, [[True, True], [False, False]], False),
        (InputKind.PADDING_MASK, [[True, True], [False, False]], False),
        (InputKind.PADDING_MASK, [[True, False], [False, False]], True),
        (InputKind.ATTENTION_MASK, [[0.5, 1.0]], False),
        (InputKind.TENSOR, [[False, False]], True),
        (InputKind.ATTENTION_MASK, np.zeros((0, 3)), True),
        (InputKind.ATTENTION_MASK, np.zeros((3, 0)), True),
    ],
)
def test_what_is_a_mask(kind: InputKind, rows: Any, holds: bool) -> None:  # noqa: ANN401
    assert masks_hold([mask(kind)], {"mask": np.asarray(rows)}) == holds
