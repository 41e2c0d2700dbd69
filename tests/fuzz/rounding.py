"""Eager with other roundings: what a right file may differ by, found without the product.

Each result of an operator that needed rounding moves to a neighbouring number, and so do the
arguments of operators that add many terms. A result that is short, or a copy of an argument, is
exact and stays: what a rounding mode or a comparison decides on exact numbers is no excuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from fuzz.mode import Mode
from fuzz.rankings import other_order
from fuzz.spectra import TRANSFORM, moved_spectrum

_BITS = {torch.float16: torch.int16, torch.float32: torch.int32, torch.float64: torch.int64}
_SHORT = {torch.float16: 0, torch.float32: 0x3F, torch.float64: 0xFFFF}
"""Bits at the end of a mantissa that are zero in a number which needed no rounding."""
_LINEAR = (
    "sum", "mean", "avg_pool", "mm", "bmm", "addmm", "matmul", "conv", "cumsum", "linear",
    "addcmul", "addcdiv",
)  # fmt: skip
"""Sums of terms: their error is one of the largest partial sum, however small the result is."""
_DIVIDING = ("mean", "avg_pool")
"""Of these, what rounds even where the sum is exact: a mean of means is a right one."""
_FACTORS = ("value", "alpha", "beta")
"""Of terms, by keyword."""
_INSIDE = (
    "softmax", "norm", "var", "std", "attention", "lstm", "gru", "rnn", "logsumexp", "upsample",
    "dist",
)  # fmt: skip
"""Formulas that round inside, exact arguments or not."""
_ADDING = (*_LINEAR, *_INSIDE, "prod")
_CANCELLING = ("gelu", "mish", "softplus", "elu.", "selu", "silu", "log_sigmoid", "log_softmax")
"""Formulas with a difference inside, such as 1 + tanh(x)."""
_TRANSCENDENTAL = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
)  # fmt: skip
"""Functions whose results are rounded, even those with a short mantissa, but at 0."""
_BOUNDED = ("sigmoid", "lstm", "gru", "rnn")
"""Results of [-1, 1], which runtimes compute to so many digits after the point."""
_RESAMPLING = ("upsample", "grid_sampler")
_OTHER_FORMULAS = ("linspace", "round")
"""A linspace is rounded by the processor's vector length; decimals (0.15) are no binary numbers."""
_COORDINATES = 8
"""Coordinates are off by some units, and so are weighted means of neighbours."""
_MOVING = ("copy", "fill", "zero", "index_put", "masked_fill", "scatter", "index_copy", "set")
_BY_INDEX = 20
"""One of so many runs orders equal values by their index, as runtimes do."""
_SELECTING = 0.9
"""An operator that returns so many of its arguments' numbers selects them."""


class OtherRounding(Mode):  # type: ignore[no-untyped-call]
    """Moves results by one unit in the last place, up or down at random."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)
        self._by_index = seed % _BY_INDEX == 1

    def on_op(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:  # noqa: ANN401
        """Return what the operator answers here."""
        generator = None if self._by_index else self._generator
        if (ordered := other_order(func, args, kwargs, generator)) is not None:
            return ordered
        name = func._schema.name.split("::")[-1].rstrip("_")
        given = tree_map(lambda value: self._moved(value, _has(name, _INSIDE)), args)
        given = given if _has(name, _ADDING) else args
        written = given[0].clone() if given and _is_float(given[0]) else None
        answer = func(*given, **kwargs)
        if name.startswith(TRANSFORM):
            return moved_spectrum(answer, args[1], self._generator)
        known = [leaf for leaf in tree_flatten(given)[0] if _is_float(leaf)]
        if written is not None and answer is given[0]:  # in place
            known = [written, *known[1:]]
            moved = self._rounded(name, known, answer.clone())
            return answer.copy_(moved) if name not in _MOVING else answer
        if any(answer is leaf for leaf in known) or _copies(func, known, answer):
            return answer
        if _has(name, _LINEAR) and not _has(name, _INSIDE):
            return self._partial_sums_moved(name, func, given, kwargs, answer)
        return tree_map(lambda leaf: self._rounded(name, known, leaf), answer)

    def _rounded(self, name: str, known: Sequence[torch.Tensor], value: object) -> object:
        """Return a result of an operator with another rounding."""
        if name in _OTHER_FORMULAS and isinstance(value, torch.Tensor):
            return self._moved(value, rounded=value.dtype is torch.float16)
        if not known or not _is_float(value):
            return value
        assert isinstance(value, torch.Tensor)
        if "dist" in name:  # the root of a difference of squares
            steps = torch.randn(value.shape, generator=self._generator, dtype=value.dtype)
            unit = torch.finfo(value.dtype).eps ** 0.5 * known[0].abs().max()
            return (value + steps * unit).clamp(min=0)
        if (scale := _scale_of_errors(name, known[0], value)) is not None:
            return self._cancelled(value, scale)
        if name in _TRANSCENDENTAL:
            return _unless_zero(known, value, self._moved(value, rounded=True))
        adds = _has(name, _ADDING) and any(bool(_long(leaf).any()) for leaf in known)
        return self._inexact_moved(value, known, adds or _has(name, _INSIDE))

    def _partial_sums_moved(
        self,
        name: str,
        func: Any,  # noqa: ANN401
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        answer: object,
    ) -> object:
        """Return sums that are off by a part of a unit of their terms' magnitudes together."""
        known = [leaf for leaf in tree_flatten(args)[0] if _is_float(leaf)]
        rounded = _has(name, _DIVIDING) or any(bool(_long(leaf).any()) for leaf in known)
        if not _is_float(answer) or not rounded:
            return answer
        assert isinstance(answer, torch.Tensor)
        factors = {name: abs(kwargs[name]) for name in _FACTORS if name in kwargs}
        size = func(*tree_map(_magnitude, args), **{**kwargs, **factors})
        steps = torch.randint(-1, 2, answer.shape, generator=self._generator)
        return torch.where(
            answer.isfinite() & size.isfinite(),
            answer + steps * torch.finfo(answer.dtype).eps * (size / 4 + answer.abs()),
            answer,
        )

    def _cancelled(self, value: object, argument: torch.Tensor) -> object:
        """Return results whose error is that of numbers as large as the argument."""
        if not isinstance(value, torch.Tensor) or value.shape != argument.shape:
            return value
        steps = torch.randint(-1, 2, value.shape, generator=self._generator)
        unit = torch.finfo(value.dtype).eps * argument.abs()
        return torch.where(value.isfinite() & (value != 0), value + steps * unit, value)

    def _moved(self, value: object, rounded: bool = False) -> object:
        """Return a tensor whose long numbers moved, or all if they are known to be rounded."""
        if not _is_float(value):
            return value
        assert isinstance(value, torch.Tensor)
        bits = value.detach().clone(memory_format=torch.contiguous_format).view(_BITS[value.dtype])
        steps = torch.randint(-1, 2, bits.shape, generator=self._generator, dtype=bits.dtype)
        settled = ~value.isfinite() | (value == 0)
        if not rounded:
            settled |= ~_long(value)
        return torch.where(settled, bits, bits + steps).view(value.dtype)

    def _inexact_moved(
        self,
        value: object,
        known: Sequence[torch.Tensor],
        rounded: bool,
    ) -> object:
        if not _is_float(value):
            return value
        assert isinstance(value, torch.Tensor)
        same = [leaf.abs().flatten() for leaf in known if leaf.dtype == value.dtype]
        if not value.numel():
            return value
        moved = self._moved(value, rounded)
        assert isinstance(moved, torch.Tensor)
        if not same:
            return moved
        selected = torch.isin(value.abs(), torch.cat(same))
        if selected.double().mean() < _SELECTING:
            return moved
        return torch.where(selected, value, moved)


def _long(value: torch.Tensor) -> torch.Tensor:
    """Return which numbers need most of their mantissa."""
    if value.dtype == torch.float16:
        return torch.ones_like(value, dtype=torch.bool)
    bits = value.detach().clone(memory_format=torch.contiguous_format).view(_BITS[value.dtype])
    return (bits & _SHORT[value.dtype]) != 0


def _scale_of_errors(name: str, argument: torch.Tensor, value: torch.Tensor) -> torch.Tensor | None:
    """Return the numbers whose unit an operator's results are off by; None for their own."""
    if _has(name, _CANCELLING):
        return argument
    if _has(name, _BOUNDED):
        return torch.ones_like(value)
    if _has(name, _RESAMPLING):
        units: torch.Tensor = _COORDINATES * argument.abs().max()
        return units.expand(value.shape)
    return None


def _has(name: str, words: Sequence[str]) -> bool:
    return any(word in name for word in words)


def _magnitude(value: object) -> object:
    return value.abs() if isinstance(value, torch.Tensor) and _is_float(value) else value


def _unless_zero(known: Sequence[torch.Tensor], answer: object, moved: object) -> object:
    """Return the exact results where the argument is 0: exp(0), sin(0)."""
    if not isinstance(answer, torch.Tensor) or known[0].shape != answer.shape:
        return moved
    assert isinstance(moved, torch.Tensor)
    return torch.where(known[0] == 0, answer, moved)


def _is_float(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in _BITS


def _copies(func: object, known: Sequence[torch.Tensor], answer: object) -> bool:
    """Return whether an operator is a cast that keeps every number."""
    if "_to_copy" not in str(func) or not known or not isinstance(answer, torch.Tensor):
        return False
    return _is_float(answer) and answer.element_size() >= known[0].element_size()


class DoubleInside(Mode):  # type: ignore[no-untyped-call]
    """Computes each operator in float64 and rounds its results: without eager's errors inside.

    Zeros lose their sign, which kernels of onnxruntime do not keep.
    """

    def on_op(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:  # noqa: ANN401
        """Return what the operator answers here."""
        answer = func(*args, **kwargs)
        leaves, structure = tree_flatten(answer)
        if any(answer is leaf for leaf in tree_flatten(args)[0]) or not any(map(_is_float, leaves)):
            return answer
        try:
            finer = tree_flatten(func(*tree_map(_widened, args), **kwargs))[0]
        except (RuntimeError, NotImplementedError, TypeError):
            return answer
        return tree_unflatten(
            [
                one.to(own.dtype) + 0.0 if _is_float(own) and one.shape == own.shape else own
                for own, one in zip(leaves, finer, strict=True)
            ],
            structure,
        )


class Overflows(Mode):  # type: ignore[no-untyped-call]
    """Finds whether a result in float16 is infinite whose arguments are not."""

    def __init__(self) -> None:
        super().__init__()
        self.found = False

    def on_op(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:  # noqa: ANN401
        """Return what the operator answers here."""
        finite = not _has_infinity(args)
        answer = func(*args, **kwargs)
        self.found |= finite and _has_infinity(answer)
        return answer


def _has_infinity(values: object) -> bool:
    return any(
        isinstance(leaf, torch.Tensor) and leaf.dtype is torch.float16 and bool(leaf.isinf().any())
        for leaf in tree_flatten(values)[0]
    )


def _widened(value: object) -> object:
    return value.double() if isinstance(value, torch.Tensor) and _is_float(value) else value


def rerun(call: Callable[[], Any], seeds: Sequence[int]) -> list[Any]:
    """Return what a call answers with other roundings; seed 0: with operators in float64."""
    answers = []
    for seed in seeds:
        with torch.no_grad(), OtherRounding(seed) if seed else DoubleInside():
            answers.append(call())
    return answers
