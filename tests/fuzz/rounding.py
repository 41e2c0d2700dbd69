"""Eager with other roundings: what a right file may differ by, found without the product.

Each result of an operator that needed rounding moves to a neighbouring number, and so do the
arguments of operators that add many terms. A result that is short, or a copy of an argument, is
exact and stays: what a rounding mode or a comparison decides on exact numbers is no excuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

_BITS = {torch.float16: torch.int16, torch.float32: torch.int32, torch.float64: torch.int64}
_SHORT = {torch.float16: 0, torch.float32: 0x3F, torch.float64: 0xFFFF}
"""Bits at the end of a mantissa that are zero in a number which needed no rounding."""
_ADDING = (
    "sum", "mean", "mm", "bmm", "addmm", "matmul", "conv", "cumsum", "softmax", "norm", "var",
    "std", "attention", "lstm", "gru", "rnn", "logsumexp", "prod", "upsample", "dist", "linear",
)  # fmt: skip
_CANCELLING = ("gelu", "mish", "softplus", "elu.", "selu", "silu", "log_sigmoid")
"""Formulas with a difference inside, such as 1 + tanh(x)."""


class OtherRounding(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Moves results by one unit in the last place, up or down at random."""

    def __init__(self, seed: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - as torch declares it
        types: Any,  # noqa: ANN401
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> object:
        adds = any(word in str(func) for word in _ADDING)
        given = tree_map(self._moved, args) if adds else args
        answer = func(*given, **(kwargs or {}))
        known = [leaf for leaf in tree_flatten(given)[0] if _is_float(leaf)]
        if any(answer is leaf for leaf in known) or _copies(func, known, answer):
            return answer
        if any(word in str(func) for word in _CANCELLING):
            return tree_map(lambda leaf: self._cancelled(leaf, known[0]), answer)
        rounded = adds and any(bool(_long(leaf).any()) for leaf in known)
        return tree_map(lambda leaf: self._inexact_moved(leaf, known, rounded), answer)

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
        return torch.where(torch.isin(value.abs(), torch.cat(same)), value, moved)


def _long(value: torch.Tensor) -> torch.Tensor:
    """Return which numbers need most of their mantissa."""
    if value.dtype == torch.float16:
        return torch.ones_like(value, dtype=torch.bool)
    bits = value.detach().clone(memory_format=torch.contiguous_format).view(_BITS[value.dtype])
    return (bits & _SHORT[value.dtype]) != 0


def _is_float(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in _BITS


def _copies(func: object, known: Sequence[torch.Tensor], answer: object) -> bool:
    """Return whether an operator is a cast that keeps every number."""
    if "_to_copy" not in str(func) or not known or not isinstance(answer, torch.Tensor):
        return False
    return _is_float(answer) and answer.element_size() >= known[0].element_size()


class DoubleInside(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Computes each operator in float64 and rounds its results: without eager's errors inside."""

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - as torch declares it
        types: Any,  # noqa: ANN401
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> object:
        answer = func(*args, **(kwargs or {}))
        leaves, structure = tree_flatten(answer)
        if any(answer is leaf for leaf in tree_flatten(args)[0]) or not any(map(_is_float, leaves)):
            return answer
        try:
            finer = tree_flatten(func(*tree_map(_widened, args), **(kwargs or {})))[0]
        except (RuntimeError, NotImplementedError, TypeError):
            return answer
        return tree_unflatten(
            [
                one.to(own.dtype) if _is_float(own) and one.shape == own.shape else own
                for own, one in zip(leaves, finer, strict=True)
            ],
            structure,
        )


def _widened(value: object) -> object:
    return value.double() if isinstance(value, torch.Tensor) and _is_float(value) else value


def rerun(call: Callable[[], Any], seeds: Sequence[int]) -> list[Any]:
    """Return what a call answers with other roundings; seed 0: with operators in float64."""
    answers = []
    for seed in seeds:
        with torch.no_grad(), OtherRounding(seed) if seed else DoubleInside():  # type: ignore[no-untyped-call]
            answers.append(call())
    return answers
