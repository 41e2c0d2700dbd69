"""Inputs of floating-point numbers that forward wants in another dtype: found by calls, pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import torch

from modelexport_exporter.diagnosis.accepted.limits import Limit, listed

Values = Mapping[str, torch.Tensor]

_DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def limits_of_dtypes(accepts: Callable[[Values], bool], values: Values) -> list[Limit]:
    """Return the dtype with which a call is accepted; empty if none is found.

    Of all such inputs together, or of one in bfloat16, which NumPy has not: others are found by
    their values. `accepts` may raise to end the search.
    """
    for names, dtype in _candidates(values):
        if accepts({**values, **{name: values[name].to(dtype) for name in names}}):
            return [_described(names, str(dtype).removeprefix("torch."))]
    return []


def _candidates(values: Values) -> Iterator[tuple[Sequence[str], torch.dtype]]:
    floats = [name for name, value in values.items() if value.is_floating_point()]
    for dtype in _DTYPES:
        if any(values[name].dtype is not dtype for name in floats):
            yield floats, dtype
    for name in floats:
        yield (name,), torch.bfloat16


def _described(names: Sequence[str], dtype: str) -> Limit:
    inputs = "input" if len(names) == 1 else "inputs"
    return Limit(f"{listed(names)} in {dtype}", f"Set dtype: {dtype} for {inputs} {listed(names)}.")
