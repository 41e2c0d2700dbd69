"""Inputs that forward wants in another dtype: found by calls, pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch

from modelexport_exporter.diagnosis.accepted.limits import Limit

Values = Mapping[str, torch.Tensor]

_SPEAKS_OF_DTYPES = re.compile(
    r"dtype|scalar type|\btype\b|\b(Long|Int|Byte|Bool|Float|Double|Half|BFloat16|bool|integer)\b"
)
_OF_FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
_OF_OTHERS = (torch.int64, torch.bool, torch.float32, torch.int32)


def limits_of_dtypes(
    accepts: Callable[[Values], bool], values: Values, message: str
) -> list[Limit]:
    """Return the dtype with which a call is accepted; empty if none is found.

    `message`: of the failure. Where it is not of dtypes, none is sought: an index as a bool is a
    mask, which other calls accept by chance. `accepts` may raise to end the search.
    """
    if not _SPEAKS_OF_DTYPES.search(message):
        return []
    for names, dtype in _candidates(values):
        if accepts({**values, **{name: values[name].to(dtype) for name in names}}):
            return [_described(names, str(dtype).removeprefix("torch."))]
    return []


def _candidates(values: Values) -> Iterator[tuple[Sequence[str], torch.dtype]]:
    """Yield all inputs of floats in another dtype, then each input alone."""
    floats = [name for name, value in values.items() if value.is_floating_point()]
    for dtype in _OF_FLOATS if floats else ():
        yield floats, dtype
    for name, value in values.items():
        for dtype in _OF_FLOATS if value.is_floating_point() else _OF_OTHERS:
            if value.dtype is not dtype:
                yield (name,), dtype


def _described(names: Sequence[str], dtype: str) -> Limit:
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    inputs = "input" if len(names) == 1 else "inputs"
    return Limit(f"{listed} in {dtype}", f"Set dtype: {dtype} for {inputs} {listed}.")
