"""Complex tensors as pairs against eager: every form has a case, over values and dtypes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from decomposed import assert_stands_for, numbers
from modelexport_exporter.decompositions.complex.programs import FORMS
from modelexport_exporter.torch_internals.operators import find_overload

torch.manual_seed(0)
Z = torch.randn(3, 4, dtype=torch.complex64)
ZERO = torch.zeros(3, 1, 4, dtype=torch.complex64)
X = torch.randn(3, 4)
MASK = X > 0
PICK = torch.tensor([2, 0])
COMPLEX = {"dtype": torch.complex64}

SHAPES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("aten::unsqueeze", (Z, 0), {}),
    ("aten::unsqueeze", (Z, -1), {}),
    ("aten::squeeze", (ZERO,), {}),
    ("aten::squeeze.dim", (ZERO, -2), {}),
    ("aten::squeeze.dim", (ZERO, 0), {}),
    ("aten::squeeze.dims", (ZERO, [0, 1]), {}),
    ("aten::select.int", (Z, -1, 2), {}),
    ("aten::expand", (ZERO, [2, 3, 5, 4]), {}),
    ("aten::repeat", (Z, [2, 1, 3]), {}),
    ("aten::index.Tensor", (Z, [None, PICK]), {}),
    ("aten::index.Tensor", (Z, [PICK, PICK + 1]), {}),
    ("aten::index.Tensor", (Z, [MASK]), {}),
    ("aten::index_select", (Z, -1, PICK), {}),
    ("aten::gather", (Z, -1, torch.tensor([[3, 0], [1, 1], [2, 0]])), {}),
    ("aten::index_put", (Z, [None, PICK], Z[:, :2] * 2), {}),
    ("aten::index_put", (Z, [PICK], Z[:1], True), {}),
    ("aten::slice_scatter", (Z, Z[:, :2] * 3, -1, 1, 3), {}),
    ("aten::select_scatter", (Z, Z[:, 0] * 3, -1, 1), {}),
    ("aten::split.Tensor", (Z, 3, -1), {}),
    ("aten::split_with_sizes", (Z, [1, 3], 1), {}),
    ("aten::unbind.int", (Z, -1), {}),
    ("aten::constant_pad_nd", (Z, [1, 2]), {}),
    ("aten::constant_pad_nd", (Z, [0, 1, 2, 0], 2.5), {}),
    ("aten::where.self", (MASK, Z, X), {}),
    ("aten::where.self", (MASK[:, :1], Z, torch.tensor(0j)), {}),
    ("aten::masked_fill.Scalar", (Z, MASK, 2.0), {}),
    ("aten::masked_fill.Tensor", (Z, MASK, torch.tensor(1 - 2j)), {}),
    ("aten::tril", (Z, -1), {}),
    ("aten::triu", (Z,), {}),
    ("aten::unfold", (Z, -1, 2, 1), {}),
    ("aten::unfold", (Z, 0, 3, 2), {}),
    ("aten::copy", (Z, X), {}),
    ("aten::copy", (X, Z), {}),
    ("aten::copy", (Z, Z[:1]), {}),
    ("aten::_to_copy", (Z,), {"dtype": torch.complex128}),
    ("aten::_to_copy", (X,), COMPLEX),
    ("aten::_to_copy", (Z,), {"dtype": torch.float32}),
    ("aten::full_like", (Z, 1 - 2j), {}),
    ("aten::full_like", (X, 3), COMPLEX),
    ("aten::zeros_like", (Z,), {}),
    ("aten::zeros_like", (Z,), {"dtype": torch.float32}),
    ("aten::ones_like", (Z,), {}),
    ("aten::full", ([2, 3], 1j), {}),
    ("aten::zeros", ([2, 3],), COMPLEX),
    ("aten::ones", ([2, 3],), {"dtype": torch.complex128}),
    ("aten::new_zeros", (Z, [5]), {}),
    ("aten::new_zeros", (Z, [5]), {"dtype": torch.float32}),
    ("aten::new_ones", (Z, [5]), {}),
    ("aten::new_ones", (X, [5]), COMPLEX),
    ("aten::cumsum", (Z, -1), {}),
    ("aten::prod.dim_int", (Z, 1), {}),
    ("aten::prod.dim_int", (Z, -1, True), {"dtype": torch.complex128}),
    ("aten::mm", (Z, Z.T), {}),
    ("aten::bmm", (ZERO + Z, (ZERO + Z).mT), {}),
    ("aten::matmul", (Z, Z[0]), {}),
    ("aten::mv", (Z, Z[0]), {}),
    ("aten::dot", (Z[0], Z[1]), {}),
    ("aten::addmm", (Z[:, :3], Z, Z.T), {"beta": 2j, "alpha": 0.5}),
    ("aten::addmm", (Z[0, :3], Z, Z.T), {"beta": 0}),
    ("aten::baddbmm", (ZERO[..., :3], ZERO + Z, (ZERO + Z).mT), {}),
    ("aten::addcmul", (Z, Z, X), {"value": 2j}),
    ("aten::addcdiv", (Z, Z, X + 4), {"value": 3}),
    ("aten::add.Tensor", (Z, X), {"alpha": 2}),
    ("aten::add.Tensor", (Z, Z), {"alpha": 2j}),
    ("aten::add.Scalar", (X, 2j), {}),
    ("aten::sub.Tensor", (X, Z), {}),
    ("aten::sub.Scalar", (Z, 1 + 2j), {}),
    ("aten::mul.Tensor", (X[:, :1], Z), {}),
    ("aten::mul.Scalar", (X, 1j), {}),
    ("aten::div.Tensor", (X, Z), {}),
    ("aten::div.Scalar", (Z, 2), {}),
]
OF_ONE = ("exp", "sqrt", "rsqrt", "sin", "cos", "sinh", "cosh", "tanh", "sigmoid")
WHOLE_LINE = ("log", "sgn", "isnan")
EXPONENTS = (0, 1, 2, 3, -1, -2, 0.5, 1.5, 2 + 1j)


def assert_as_eager(name: str, *args: Any, rounding: float = 1e-6, **named: Any) -> None:  # noqa: ANN401
    assert_stands_for(name, FORMS[name].function, *args, rounding=rounding, **named)


@pytest.mark.parametrize(("name", "args", "named"), SHAPES, ids=[case[0] for case in SHAPES])
def test_a_form_is_eagers(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    assert_as_eager(name, *args, **named)


def test_every_form_has_a_case() -> None:
    by_value = {f"aten::{name}" for name in (*OF_ONE, *WHOLE_LINE)}
    by_value |= {"aten::pow.Tensor_Scalar", "aten::pow.Tensor_Tensor"}
    by_value |= {f"aten::{name}.{kind}" for name in ("eq", "ne") for kind in ("Tensor", "Scalar")}
    uninitialised = {"aten::empty_like", "aten::empty.memory_format", "aten::new_empty"}
    assert set(FORMS) == {case[0] for case in SHAPES} | by_value | uninitialised


def points(largest: float) -> st.SearchStrategy[Tensor]:
    """Draw a few complex numbers, on the axes too."""
    part = numbers(-largest, largest, edges=False) | st.sampled_from([0.0, 1.0, -1.0])
    pairs = st.lists(st.tuples(part, part), min_size=1, max_size=6)
    dtypes = st.sampled_from([torch.complex64, torch.complex128])
    return st.builds(
        lambda p, dtype: torch.tensor([complex(*z) for z in p], dtype=dtype), pairs, dtypes
    )


@pytest.mark.parametrize("name", OF_ONE)
@settings(max_examples=60, deadline=None)
@given(z=points(6.0))
def test_functions_are_eagers(name: str, z: Tensor) -> None:
    operator = find_overload(f"aten::{name}")
    assert operator is not None
    rounding = 7e-5 if name in ("tanh", "sigmoid") else 3.5e-6
    for each in z.unbind():  # apart: a large value would hide the error of a small one
        want = operator(each)
        if want.isfinite().all() and want.abs() < 1e4:
            assert_as_eager(f"aten::{name}", each, rounding=rounding)


@pytest.mark.parametrize("name", WHOLE_LINE)
@settings(max_examples=60, deadline=None)
@given(z=points(2.0**60))
def test_functions_of_any_size_are_eagers(name: str, z: Tensor) -> None:
    z = z[z != 0] if name == "log" else z
    # Where |z| is 1, its logarithm is what rounding leaves of it.
    z = z[(z.abs() - 1).abs() > 1e-3] if name == "log" else z
    assert_as_eager(f"aten::{name}", z)


@pytest.mark.parametrize("exponent", EXPONENTS)
@settings(max_examples=40, deadline=None)
@given(z=points(5.0))
def test_powers_are_eagers(exponent: complex, z: Tensor) -> None:
    z = z[z.abs() > 1e-2]
    assert_as_eager("aten::pow.Tensor_Scalar", z, exponent, rounding=1.4e-5)
    same = torch.full_like(z, exponent)
    assert_as_eager("aten::pow.Tensor_Tensor", z, same, rounding=1.4e-5)


@pytest.mark.parametrize("name", ["eq", "ne"])
def test_comparisons_are_eagers(name: str) -> None:
    other = torch.where(MASK, Z, Z.conj())
    assert_as_eager(f"aten::{name}.Tensor", Z, other)
    assert_as_eager(f"aten::{name}.Scalar", Z, complex(Z[0, 0]))


def test_nothing_is_infinite_by_the_formula_alone() -> None:
    large = torch.tensor([3e30 - 4e30j, 3e-30 + 4e-30j, 200 + 1j, -200 - 3j])
    for name in ("sqrt", "log", "sgn", "tanh", "sigmoid"):
        assert torch.view_as_real(FORMS[f"aten::{name}"].function(large)).isfinite().all(), name
