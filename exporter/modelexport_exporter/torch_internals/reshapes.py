"""Whether a reshape copies is no condition on the sizes of a model.

torch decides by the example whether the result can be a view, and with it which sizes are 1: the
rows of a permuted map of one row lie otherwise than those of several. In a graph both are the same
node; the condition would only narrow dims (`requested 32..96, got 33..96`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any
from unittest.mock import patch

import torch
from torch import SymInt, Tensor
from torch._C import DispatchKey
from torch._ops import OpOverload
from torch._prims_common import infer_size

_KEY = DispatchKey.CompositeImplicitAutograd
_RESHAPE = torch.ops.aten.reshape.default
_FLATTEN = torch.ops.aten.flatten.using_ints
_OF_MANY_DIVISORS = 5040


@contextmanager
def copies_narrow_no_size() -> Iterator[None]:
    """Find the shapes of reshapes that copy without a condition on sizes, in the block."""
    with _kernel(_RESHAPE, _reshape), _kernel(_FLATTEN, _flatten):
        yield


@contextmanager
def _kernel(op: OpOverload[Any, Any], kernel: Callable[..., Tensor]) -> Iterator[None]:
    try:
        with patch.dict(op.py_kernels, {_KEY: kernel}):
            op._dispatch_cache.clear()  # noqa: SLF001
            yield
    finally:
        op._dispatch_cache.clear()  # noqa: SLF001


def _reshape(x: Tensor, shape: Sequence[int]) -> Tensor:
    if _is_dynamic(x):
        sizes = infer_size(tuple(shape), math.prod(x.shape))
        copies = copies_at_large_sizes(x.shape, x.stride(), sizes)
        if copies is not None:
            own = x.clone(memory_format=torch.contiguous_format) if copies else x
            # torch may not see that a view is possible where it is.
            with suppress(ValueError, RuntimeError):
                return own.view(sizes)
    return _without_kernel(_RESHAPE, x, shape)


def _flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    if _is_dynamic(x):
        first, last = start_dim % x.dim(), end_dim % x.dim()
        sizes = [*x.shape[:first], math.prod(x.shape[first : last + 1]), *x.shape[last + 1 :]]
        if first < last:
            return _reshape(x, sizes)
    return _without_kernel(_FLATTEN, x, start_dim, end_dim)


def _is_dynamic(x: Tensor) -> bool:
    return any(isinstance(size, SymInt) for size in x.shape)


def _without_kernel(op: OpOverload[Any, Any], *args: object) -> Tensor:
    found: Tensor = op._op_dk(_KEY, *args)  # noqa: SLF001
    return found


def is_contiguous_at_large_sizes(x: Tensor) -> bool | None:
    """Return whether a tensor is contiguous, at sizes that are large and have no relation.

    None where it has sizes that are no numbers then.
    """
    found = [
        strides == [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]
        for shape, strides in _at_unrelated_sizes(x.shape, x.stride())
    ]
    return all(found) if found else None


def copies_at_large_sizes(
    shape: Sequence[int], strides: Sequence[int], wanted: Sequence[int]
) -> bool | None:
    """Return whether a reshape to `wanted` copies, at sizes that are large and have no relation.

    None where such sizes do not fit each other.
    """
    found = [
        not can_view(before, steps, after)
        for before, steps, after in _at_unrelated_sizes(shape, strides, wanted)
        if math.prod(before) == math.prod(after)
    ]
    return any(found) if found else None


def _at_unrelated_sizes(*groups: Sequence[int]) -> list[list[list[int]]]:
    """Return all with a large number in place of each symbol: first of many divisors, then of none.

    A crop of a padded picture is contiguous at multiples of the padding only.
    """
    expressions: list[list[Any]] = [[_expression(size) for size in group] for group in groups]
    symbolic = (own for group in expressions for own in group if not isinstance(own, int))
    symbols = sorted({symbol for own in symbolic for symbol in own.free_symbols}, key=str)
    found = []
    for shift in (0, 1):
        sizes = (_OF_MANY_DIVISORS * own + shift for own in _primes())
        numbers = dict(zip(symbols, sizes, strict=False))
        with suppress(TypeError):
            found.append(
                [
                    [own if isinstance(own, int) else int(own.xreplace(numbers)) for own in group]
                    for group in expressions
                ]
            )
    return found


def _expression(size: Any) -> Any:  # noqa: ANN401
    return size.node.expr if isinstance(size, SymInt) else size


def _primes() -> Iterator[int]:
    return (n for n in count(11) if all(n % k for k in range(2, math.isqrt(n) + 1)))


def can_view(shape: Sequence[int], strides: Sequence[int], wanted: Sequence[int]) -> bool:
    """Return whether a tensor can be viewed in another shape (ATen's computeStride)."""
    place, base, own, other = len(wanted) - 1, strides[-1], 1, 1
    for dim in reversed(range(len(shape))):
        own *= shape[dim]
        if dim and (shape[dim - 1] == 1 or strides[dim - 1] == own * base):
            continue
        while place >= 0 and (other < own or wanted[place] == 1):
            other *= wanted[place]
            place -= 1
        if other != own:
            return False
        if dim:
            base, own, other = strides[dim - 1], 1, 1
    return place == -1
