"""Rows of a tensor at a place that is known to the graph alone: the number of a loop's step.

torch takes `x[:, i]` as a view whose place in memory depends on a value, which few operators
accept; the same elements are an index_select.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true

from modelexport_exporter.convert.size_loops.rows import NotOneStep
from modelexport_exporter.decompositions.capture.tensors_of_sizes import as_tensor
from modelexport_exporter.torch_internals.pytree import tree_leaves


def is_open(number: Any) -> bool:  # noqa: ANN401
    """Return whether a number depends on the number of a step."""
    return isinstance(number, torch.SymInt) and bool(free_unbacked_symbols(number))


def get(x: Tensor, index: Any) -> Any:  # noqa: ANN401
    """Return x[index]."""
    parts = _parts(index)
    if not any(map(_is_open_part, parts)):
        return x[index]
    if any(isinstance(part, Tensor | list) for part in parts):
        raise NotOneStep
    plain = list(parts)
    for place, dim, part in _with_dims(parts, x.dim()):
        if not _is_open_part(part):
            continue
        x = torch.index_select(x, dim, _places(part, x.shape[dim]))
        plain[place] = slice(None) if isinstance(part, slice) else 0
    return x[tuple(plain)]


def put(x: Any, index: Any, value: Any) -> Any:  # noqa: ANN401
    """Return x after `x[index] = value`."""
    parts = _parts(index)
    if not isinstance(x, Tensor) or not any(map(_is_open_part, parts)):
        x[index] = value
        return x
    opened = [one for one in _with_dims(parts, x.dim()) if _is_open_part(one[2])]
    if len(opened) > 1 or any(isinstance(part, Tensor | list) for part in parts):
        raise NotOneStep
    [(place, dim, part)] = opened
    places = _places(part, x.shape[dim])
    rows = torch.index_select(x, dim, places)
    within = list(parts)
    within[place] = slice(None) if isinstance(part, slice) else 0
    rows[tuple(within)] = value
    return torch.index_copy(x, dim, places, rows)


def _parts(index: Any) -> Sequence[Any]:  # noqa: ANN401
    return index if isinstance(index, tuple) else (index,)


def _is_open_part(part: Any) -> bool:  # noqa: ANN401
    if isinstance(part, slice):
        return is_open(part.start) and part.step in (None, 1) and part.stop is not None
    return is_open(part)


def _with_dims(parts: Sequence[Any], dims: int) -> Iterator[tuple[int, int, Any]]:
    """Yield the place, the dim and the part of an index, for parts that have a dim."""
    rest = sum(part is not None and part is not Ellipsis for part in parts)
    dim = 0
    for place, part in enumerate(parts):
        if part is Ellipsis:
            dim = dims - rest
        elif part is not None:
            yield place, dim, part
            dim, rest = dim + 1, rest - 1


def _places(part: Any, size: Any) -> Tensor:  # noqa: ANN401
    """Return the elements that a part takes, int64 [k]."""
    if not isinstance(part, slice):
        return _scalar(_from_start(part, size)).reshape(1)
    width = part.stop - part.start
    known = width.node.maybe_as_int() if isinstance(width, torch.SymInt) else width
    if known is None or known < 1:
        raise NotOneStep
    return torch.arange(known) + _scalar(_from_start(part.start, size))


def _from_start(place: Any, size: Any) -> Any:  # noqa: ANN401
    """Return a place from the start; a step of which no result is used may ask for more rows."""
    if statically_known_true(place < 0):
        return place + size
    return place if statically_known_true(place < size) else torch.sym_min(place, size - 1)


def _scalar(number: Any) -> Tensor:  # noqa: ANN401
    return torch.scalar_tensor(number, dtype=torch.int64)


def _select(x: Tensor, dim: int, index: Any) -> Any:  # noqa: ANN401
    return get(x, (*[slice(None)] * (dim % x.dim()), index))


def _narrow(x: Tensor, dim: int, start: Any, length: Any) -> Any:  # noqa: ANN401
    return get(x, (*[slice(None)] * (dim % x.dim()), slice(start, start + length)))


def _tensor(data: Any, **options: Any) -> Any:  # noqa: ANN401
    if not any(map(is_open, tree_leaves(data))):
        return torch.tensor(data, **options)
    return as_tensor(data, options.get("dtype"), options.get("device"))


CALLS: Mapping[Any, Callable[..., Any]] = {
    Tensor.__getitem__: get,
    **dict.fromkeys((Tensor.select, torch.select), _select),
    **dict.fromkeys((Tensor.narrow, torch.narrow), _narrow),
    torch.tensor: _tensor,
}
"""Functions of torch that take a place, and what takes their place."""
