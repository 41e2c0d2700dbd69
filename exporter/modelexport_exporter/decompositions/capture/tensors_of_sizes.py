"""Tensors made of sizes: `torch.as_tensor([h, w])`, `x.new_tensor([[h, w], [h // 2, w // 2]])`.

torch.export captures `torch.tensor` of them, but of a range, and takes the others for constants of
its example.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import SymBool, SymFloat, SymInt, Tensor

from modelexport_exporter.decompositions.capture.registry import Replacements, Result
from modelexport_exporter.torch_internals.symbolic_ranges import SizeRange

CALLS = Replacements()
_SIZES = (SymBool, SymFloat, SymInt)
_NUMBERS = (bool, int, float, *_SIZES)


def _leaves(data: object) -> Iterator[object]:
    if isinstance(data, list | tuple):
        for part in data:
            yield from _leaves(part)
    else:
        yield data


def _dtype_of(leaves: Sequence[object]) -> torch.dtype:
    """Return what eager makes of the numbers, where one of them is a size."""
    if any(isinstance(leaf, float | SymFloat) for leaf in leaves):
        return torch.get_default_dtype()
    return torch.bool if all(isinstance(leaf, bool | SymBool) for leaf in leaves) else torch.int64


def _stack(data: Any, dtype: torch.dtype, device: Any) -> Tensor:  # noqa: ANN401
    if isinstance(data, list | tuple):
        return torch.stack([_stack(part, dtype, device) for part in data])
    return torch.scalar_tensor(data, dtype=dtype, device=device)


@CALLS.replaces("as_tensor", torch.as_tensor)
def as_tensor(
    data: Any,  # noqa: ANN401
    dtype: torch.dtype | None = None,
    device: Any = None,  # noqa: ANN401
) -> Result:
    if type(data) is SizeRange:
        return data.tensor(dtype, device)
    leaves = list(_leaves(data))
    numbers = all(isinstance(leaf, _NUMBERS) for leaf in leaves)
    if not numbers or not any(isinstance(leaf, _SIZES) for leaf in leaves):
        return NotImplemented
    return _stack(data, dtype or _dtype_of(leaves), device)


@CALLS.replaces("tensor", torch.tensor)
def tensor(
    data: Any,  # noqa: ANN401
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,  # noqa: ANN401
    **_: object,
) -> Result:
    return data.tensor(dtype, device) if type(data) is SizeRange else NotImplemented


@CALLS.replaces("asarray", torch.asarray)
def asarray(
    obj: Any,  # noqa: ANN401
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,  # noqa: ANN401
    **_: object,
) -> Result:
    return as_tensor(obj, dtype, device)


@CALLS.replaces("new_tensor", Tensor.new_tensor)
def new_tensor(
    x: Tensor,
    data: Any,  # noqa: ANN401
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,  # noqa: ANN401
    **_: object,
) -> Result:
    return as_tensor(data, dtype or x.dtype, device or x.device)


@CALLS.replaces("index", Tensor.__getitem__)
def elements(x: Tensor, index: Any) -> Result:  # noqa: ANN401
    found = _without_ranges(index, x.device)
    return NotImplemented if found is None else x[found]


@CALLS.replaces("index_put_", Tensor.__setitem__)
def set_elements(x: Tensor, index: Any, values: Any) -> Result:  # noqa: ANN401
    found = _without_ranges(index, x.device)
    if found is None:
        return NotImplemented
    x[found] = values
    return None


def _without_ranges(index: Any, device: torch.device) -> Any:  # noqa: ANN401
    """Return the index with tensors in place of ranges of sizes; None if it has none."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(type(part) is SizeRange for part in parts):
        return None
    return tuple(part.tensor(None, device) if type(part) is SizeRange else part for part in parts)
