"""Compare a decomposition with the operator that it stands for, and draw tensors for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from modelexport_exporter.decompositions.library import DECOMPOSITIONS
from modelexport_exporter.torch_internals.operators import find_overload

ROUNDING = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5, torch.float64: 1e-11}
"""What may differ, relative to the largest magnitude."""

Numbers = st.SearchStrategy[float]
Tensors = st.SearchStrategy[Tensor]
EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 10.0, math.inf, -math.inf, math.nan)


def assert_as_eager(
    name: str, *args: object, rounding: float | None = None, **named: object
) -> None:
    """Fail where the decomposition's values, dtypes or shapes are not the operator's own."""
    assert_stands_for(name, DECOMPOSITIONS[name].function, *args, rounding=rounding, **named)


def assert_stands_for(
    name: str,
    function: Callable[..., Any],
    *args: object,
    rounding: float | None = None,
    **named: object,
) -> None:
    """Fail where the function's values, dtypes or shapes are not the operator's own."""
    operator = find_overload(name)
    assert operator is not None
    expected = _listed(operator(*args, **named))
    found = _listed(function(*args, **named))
    assert len(expected) == len(found)
    for want, got in zip(expected, found, strict=True):
        assert_same(want, got, rounding)


def assert_same(want: Tensor, got: Tensor, rounding: float | None = None) -> None:
    """Fail unless NaN, infinities, dtype and shape agree, and numbers do up to rounding."""
    assert (want.dtype, want.shape) == (got.dtype, got.shape)
    if want.is_complex():
        want, got = torch.view_as_real(want.resolve_conj()), torch.view_as_real(got)
    if not want.dtype.is_floating_point:
        assert torch.equal(want, got), (want, got)
        return
    finite = want.isfinite()
    odd, found = want[~finite], got[~finite]
    assert torch.equal(odd.isnan(), found.isnan()), (want, got)
    assert torch.equal(odd[~odd.isnan()], found[~odd.isnan()]), (want, got)
    if finite.any():
        peak = want[finite].abs().max().item()
        error = (want[finite].double() - got[finite].double()).abs().max().item()
        limit = ROUNDING[want.dtype] if rounding is None else rounding
        assert error <= limit * peak + 1e-30, (want, got)


def _listed(result: Tensor | tuple[Tensor, ...]) -> list[Tensor]:
    return [result] if isinstance(result, Tensor) else list(result)


def numbers(low: float = -20.0, high: float = 20.0, *, edges: bool = True) -> Numbers:
    """Draw numbers of single precision, with the odd ones that break formulas."""
    plain = st.floats(low, high, width=32, allow_subnormal=False)
    inside = st.sampled_from(EDGES) if edges else st.nothing()
    return st.one_of(plain, inside)


def vectors(elements: Numbers, *, smallest: int = 1) -> Tensors:
    """Draw tensors of one dim in single or double precision."""
    return st.builds(
        lambda values, dtype: torch.tensor(values, dtype=dtype),
        st.lists(elements, min_size=smallest, max_size=12),
        st.sampled_from([torch.float32, torch.float64]),
    )


def matrices(elements: Numbers, *, smallest: int = 1) -> Tensors:
    """Draw tensors of two dims: three rows."""
    return vectors(elements, smallest=smallest).map(
        lambda row: torch.stack([row, row.flip(0), row.roll(1)])
    )
