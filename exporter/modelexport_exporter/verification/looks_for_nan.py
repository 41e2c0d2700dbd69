"""What a module does with NaN and infinity, found out from the ops that it calls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import torch

from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name
from modelexport_exporter.torch_internals.call_mode import CallMode, call_name
from modelexport_exporter.torch_internals.operators import is_of_other_library

NAN_OPS = frozenset(
    {"isnan", "nan_to_num", "nansum", "nanmedian", "isfinite", "isinf", "isposinf", "isneginf"}
)
"""ATen ops by which a module tests for NaN and infinities, or replaces them."""
TESTING_THEMSELVES = frozenset({"quantile", "scaled_dot_product_attention"})
"""Functions of torch that test for NaN or infinity inside."""
OWN_WAY = (
    *("_scaled_dot_product", "_fft_", "_upsample", "linalg_", "_linalg_", "cholesky", "lu_"),
    *("_cdist", "_pdist", "_adaptive", "mode", "multinomial", "searchsorted"),
)
"""How the ops of torch begin whose kernels treat NaN in a way of their own: fused attention returns
zeros, the imaginary part of a sum is 0, and a search by halves goes astray among them."""
OF_COMPLEX = frozenset({"add", "sub", "rsub", "div", "reciprocal", "abs", "angle", "pow", "sqrt"})
"""Ops of complex numbers that pass a NaN of one part on to the other, or do not, as the kernel that
runs has it: a sum multiplies by `alpha`, 1 + 0j."""
INTEGERS = frozenset({torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64})
READING = frozenset({"_local_scalar_dense", "item", "is_nonzero", "equal"})
"""ATen ops that return a Python value."""
COMPARING = frozenset({"eq", "ne"})
"""A number that is compared with itself, or with infinity, is tested for NaN or infinity."""


def _makes_integers(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:  # noqa: ANN401
    dtype = kwargs.get("dtype")
    given = args[0] if args else None
    floats = isinstance(given, torch.Tensor) and given.is_floating_point()
    casts = op_name(func) == "_to_copy" and isinstance(dtype, torch.dtype)
    return bool(casts and floats and dtype in INTEGERS)


class _OwnTests(CallMode):
    """Knows when a function runs that tests for NaN itself, though nobody asked it to."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = False

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run the function, and know that it runs."""
        before = self.inside
        self.inside = before or call_name(func) in TESTING_THEMSELVES
        try:
            return func(*args, **kwargs)
        finally:
            self.inside = before


class LooksForNan(AtenMode):
    """Finds out whether a module tests its numbers for NaN or infinity."""

    def __init__(self) -> None:
        super().__init__()
        self.found = False
        self.reads_values = False
        """Whether Python, or a script, asks for a value: it may branch or loop over it."""
        self.rounds = False
        """Whether floats become integers: which one an infinity becomes is not defined."""
        self.has_own_way = False
        """Whether an op of OWN_WAY, or of OF_COMPLEX, runs."""
        self.may_crash = False
        """Whether a kernel of another library runs: deform_conv2d of torchvision reads foreign
        memory where an offset is NaN."""
        self._calls = _OwnTests()

    def __enter__(self) -> Self:
        self._calls.__enter__()  # type: ignore[no-untyped-call]
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        self._calls.__exit__(*error)  # type: ignore[no-untyped-call]

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Note whether the op is such a test, and run it."""
        name = op_name(func)
        self.reads_values = self.reads_values or name in READING
        makes_integers = "quantize" in name or _makes_integers(func, args, kwargs)
        self.has_own_way = self.has_own_way or _has_own_way(name, args)
        self.may_crash = self.may_crash or is_of_other_library(func)
        compares = name in COMPARING and _is_test(*args[:2])
        if not self._calls.inside:
            self.found = self.found or name in NAN_OPS or compares
            self.rounds = self.rounds or makes_integers
        return func(*args, **kwargs)


def _has_own_way(name: str, args: tuple[Any, ...]) -> bool:
    if name.startswith(OWN_WAY):
        return True
    return name in OF_COMPLEX and any(
        isinstance(value, torch.Tensor) and value.is_complex() for value in args
    )


def _is_test(one: Any, other: Any) -> bool:  # noqa: ANN401
    """Return whether both are the same tensor, or the second is an infinity."""
    if not isinstance(other, torch.Tensor):
        return isinstance(other, float) and math.isinf(other)
    same_place = one.data_ptr() == other.data_ptr() and one.stride() == other.stride()
    if one.is_floating_point() and one.shape == other.shape and same_place:
        return True
    return other.numel() == 1 and other.is_floating_point() and bool(other.isinf())
