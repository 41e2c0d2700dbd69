"""What rounding does inside of long sums, and inside of normalisations.

Two correct implementations add the same numbers in another order: their results differ by more than
the last place, like a random walk of as many steps as there are additions one after the other. In a
normalisation that is the error of the mean, which the inverse of the standard deviation amplifies
where a slice is nearly constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from modelexport_exporter.torch_internals.aten_mode import op_name
from modelexport_exporter.verification.numerics.resampling import (
    is_resampling,
    magnitudes_of_places,
)

REDUCING = frozenset(
    {"sum", "mean", "nansum", "var", "var_mean", "std", "std_mean", "norm", "linalg_vector_norm"}
)
"""Ops that add all numbers of a slice."""
ROUNDING_INSIDE = REDUCING | {"cumsum"}
CANCELLING = frozenset({"sum", "mean", "nansum"})
"""Of these, ops that add terms of both signs."""
NORMALISING = frozenset({"native_group_norm", "native_layer_norm", "native_batch_norm"})
"""Ops that return their result, the means and the inverse standard deviations."""
TRAINING = 5
"""The argument of native_batch_norm that asks for the batch's own statistics."""
LONG = 256
"""Terms of a sum from which on the order of its additions may exceed the floor of the limits."""
LONGEST = 16384
"""Terms that a file adds one after the other at most: the conversion adds more in parts."""
LANES = 8
"""Sums of the same slice that a kernel computes side by side."""
UNITS = (1, 16, 256)
"""Multiples of one of these, as a fraction, are summed exactly up to 2^24 of them."""
PRODUCTS = frozenset({"mm", "bmm", "mv", "dot", "addmm", "baddbmm", "addmv"})
"""Ops that add products of their last two arguments, to the first one if there are three."""
SUMS = frozenset({"sum", "nansum", "cumsum", "mean"})
"""The mean is a sum, whose quotient alone may be rounded."""
CONVOLUTIONS = frozenset({"convolution", "_convolution"})
FIRST = 64
"""Numbers of a tensor that are looked at before all are."""


def magnitudes_inside(
    func: Any,  # noqa: ANN401
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    wide: torch.Tensor,
) -> torch.Tensor | None:
    """Return the numbers that an op's rounding is relative to; None if that is its result.

    `wide`: the result in float64. Of a long sum: the partial sums, which may cancel, times the
    square root of the number of additions. Of running sums: the largest one. Of resampling: what
    moves where a place does.
    """
    name, given = op_name(func), args[0] if args else None
    if not isinstance(given, torch.Tensor) or not given.is_floating_point() or not given.numel():
        return None
    if is_exact_sum(name, args):
        return None
    if not given.ndim or name not in ROUNDING_INSIDE:
        return magnitudes_of_places(args, wide) if is_resampling(name) else None
    if name == "cumsum":  # in float64, on a CPU
        return wide.abs().amax(args[1], keepdim=True).expand_as(wide)
    terms = given.numel() / max(wide.numel(), 1)
    partial = wide.abs()
    if terms < LONG or _is_exact([given], terms):
        return None
    if name in CANCELLING:
        # The sum of terms of both signs is a random walk, whose end may be at zero.
        squares = func(given.to(torch.float64).square(), *args[1:], **kwargs).to(torch.float64)
        walked = (squares / terms if name == "mean" else squares).sqrt()
        partial = torch.maximum(partial, walked)
    return partial * math.sqrt(min(terms, LONGEST) / LANES)


def is_exact_sum(name: str, args: tuple[Any, ...]) -> bool:
    """Return whether a sum, a product of matrices, or a convolution rounds nothing in any order.

    What is decided on such a result is no matter of rounding: a point between two centres.
    """
    tensors = [entry for entry in args if isinstance(entry, torch.Tensor)]
    if not all(entry.is_floating_point() and entry.numel() for entry in tensors):
        return False
    if name in SUMS:
        return _is_exact(tensors[:1], tensors[0].numel())
    if len(tensors) < len(("left", "right")):
        return False
    if name in CONVOLUTIONS:
        return _is_exact(tensors, tensors[1].numel() / tensors[1].shape[0] + len(tensors) - 2)
    return name in PRODUCTS and _is_exact(tensors, tensors[-2].shape[-1] + len(tensors) - 2)


def _is_exact(factors: list[torch.Tensor], terms: float) -> bool:
    """Return whether no partial sum of products of these numbers is rounded."""
    largest, unit = float(terms), 1
    for given in factors:
        own = _unit(given.reshape(-1)[:FIRST]) and _unit(given)
        if not own:
            return False
        largest, unit = largest * max(float(given.abs().max()), 1.0), unit * own
    return largest * unit <= 2.0**24


def _unit(given: torch.Tensor) -> int:
    """Return the unit of which all numbers are multiples, as the divisor of 1; 0 if none is."""
    return next((unit for unit in UNITS if bool((given * unit == (given * unit).round()).all())), 0)


def with_rounded_mean(
    name: str,
    args: tuple[Any, ...],
    results: Any,  # noqa: ANN401
    dtype: torch.dtype,
    generator: Callable[[torch.device], torch.Generator],
) -> Any:  # noqa: ANN401
    """Return the results of a normalisation whose means are rounded at random, of others as is.

    `results`: in float64; `dtype`: of the model's own arithmetic.
    """
    by_running_statistics = name == "native_batch_norm" and not args[TRAINING]
    if name not in NORMALISING or by_running_statistics or not results[1].numel():
        return results
    normalised, means, inverses = results
    terms = normalised.numel() / means.numel()
    error = torch.finfo(dtype).eps * math.sqrt(max(min(terms, LONGEST) / LANES, 1.0))
    part = torch.rand(
        means.shape, generator=generator(means.device), device=means.device, dtype=means.dtype
    )
    shifts = (2 * part - 1) * error * means.abs() * inverses
    weight = args[2] if name == "native_layer_norm" else args[1]
    return (normalised + _spread(name, shifts, weight, normalised), means, inverses)


def _spread(
    name: str, shifts: torch.Tensor, weight: torch.Tensor | None, normalised: torch.Tensor
) -> torch.Tensor:
    """Return the shift of each element: that of its slice, times its weight."""
    if name == "native_layer_norm":
        return shifts if weight is None else shifts * weight
    if name == "native_group_norm":
        repeats = normalised.shape[1] // shifts.shape[1]
        shifts = shifts.repeat_interleave(repeats, 1)
    shape = [1] * (normalised.ndim - 2)
    channels = shifts.reshape(-1, normalised.shape[1], *shape)
    return channels if weight is None else channels * weight.reshape(1, -1, *shape)
