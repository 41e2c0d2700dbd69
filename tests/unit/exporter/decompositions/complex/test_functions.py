"""Complex tensors as pairs against eager: every form has a case, over values and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from decomposed import assert_stands_for, numbers
from modelexport_exporter.decompositions.complex.programs import FORMS
from modelexport_exporter.torch_internals.operators import find_overload
from repairs.complex_forms import INVERSE, LOGARITHMS, MASK, OF_ONE, SHAPES, WHOLE_LINE, Z

EXPONENTS = (0, 1, 2, 3, -1, -2, 0.5, 1.5, 2 + 1j)


def assert_as_eager(name: str, *args: Any, rounding: float = 1e-6, **named: Any) -> None:  # noqa: ANN401
    assert_stands_for(name, FORMS[name].function, *args, rounding=rounding, **named)


@pytest.mark.parametrize(("name", "args", "named"), SHAPES, ids=[case[0] for case in SHAPES])
def test_a_form_is_eagers(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    assert_as_eager(name, *args, **named)


def test_every_form_has_a_case() -> None:
    by_value = {f"aten::{name}" for name in (*OF_ONE, *INVERSE, *WHOLE_LINE)}
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
    rounding = 7e-5 if name in ("tanh", "sigmoid", "tan") else 3.5e-6
    for each in z.unbind():  # apart: a large value would hide the error of a small one
        want = operator(each)
        if want.isfinite().all() and want.abs() < 1e4:
            assert_as_eager(f"aten::{name}", each, rounding=rounding)


def log1p(z: NDArray[Any]) -> NDArray[Any]:
    """Return log(1 + z): NumPy's is that of the rounded 1 + z, 1.1e-15 at 1e-15."""
    x, y = z.real, z.imag
    real = 0.5 * np.log1p(x * (2 + x) + y * y)
    return np.asarray(real + 1j * np.arctan2(y, 1 + x))


@pytest.mark.parametrize("name", INVERSE)
@settings(max_examples=60, deadline=None)
@given(z=points(6.0))
def test_inverse_functions_are_exact_at_the_ends_of_their_cuts(name: str, z: Tensor) -> None:
    """Against NumPy in double precision: eager's acos is off by 2 % at 1 + 3e-29j."""
    own = FORMS[f"aten::{name}"].function(z)
    of_numpy = name.replace("a", "arc", 1) if name.startswith("a") else name
    computed = log1p if name == "log1p" else getattr(np, of_numpy)
    with np.errstate(all="ignore"):
        want = torch.from_numpy(computed(z.to(torch.complex128).numpy()))
    assert own.dtype is z.dtype
    for one, other in zip(own.to(torch.complex128), want, strict=True):
        if other.isfinite():
            assert (one - other).abs() <= 4e-7 * other.abs() + 1e-37, (one, other)


@pytest.mark.parametrize("name", WHOLE_LINE)
@settings(max_examples=60, deadline=None)
@given(z=points(2.0**60))
def test_functions_of_any_size_are_eagers(name: str, z: Tensor) -> None:
    z = z[z != 0] if name in LOGARITHMS else z
    # Where |z| is 1, its logarithm is what rounding leaves of it.
    z = z[(z.abs() - 1).abs() > 1e-3] if name in LOGARITHMS else z
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
