"""Run a captured graph again, so that the tracer of TorchScript records its operators.

The tracer shows sizes as tensors. torch's Python functions keep track of such a size where it is
an argument; an overload called directly would record its value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.torch_internals.operators import OpOverload, schema_of
from modelexport_exporter.torch_internals.pytree import tree_leaves

_aten = torch.ops.aten


def replay(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:  # noqa: ANN401
    """Return the graph's result for these inputs."""
    return _Replay(graph).run(*inputs)


def writes_itself(target: object) -> bool:
    """Return whether the replay replaces the operator."""
    return target in _REPLACEMENTS


class _Replay(torch.fx.Interpreter):
    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        form = _REPLACEMENTS.get(target)
        if form is not None:
            return form(*args, **kwargs)
        if isinstance(target, OpOverload) and _takes_traced_sizes(target, args):
            return _function(target)(*args, **kwargs)
        return target(*args, **kwargs)


def _takes_traced_sizes(target: OpOverload, args: tuple[Any, ...]) -> bool:
    return any(
        "Tensor" not in str(argument.type)
        and any(isinstance(leaf, Tensor) for leaf in tree_leaves(value))
        for argument, value in zip(schema_of(target).arguments, args, strict=False)
    )


def _function(target: OpOverload) -> Callable[..., Any]:
    """Return torch's Python function of that operator, or the operator itself."""
    name = schema_of(target).name.removeprefix("aten::")
    found: Callable[..., Any] = getattr(torch, name, getattr(Tensor, name, target))
    return found


def _size(x: Tensor, dim: int) -> Any:  # noqa: ANN401
    return x.shape[dim]


def _slice(x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1) -> Tensor:  # noqa: ANN401
    dim = dim % x.dim()
    result: Tensor = x[(slice(None),) * dim + (slice(start, end, step),)]
    return result


def _convert(x: Tensor, *, dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return x.clone() if dtype is None or dtype == x.dtype else x.to(dtype)


def _reshape(x: Tensor, shape: Sequence[Any]) -> Tensor:
    return x.reshape(tuple(shape))


def _expand(x: Tensor, shape: Sequence[Any], **_: object) -> Tensor:
    return x.expand(tuple(shape))


def _copy(written: Tensor, source: Tensor, *_: object) -> Tensor:
    """Return the result of a copy_ into a value that is not read otherwise."""
    return source.to(written.dtype).expand_as(written)


def _smaller(x: Any, y: Any) -> Any:  # noqa: ANN401
    return torch.minimum(*_tensors(x, y)) if _is_traced(x, y) else min(x, y)


def _larger(x: Any, y: Any) -> Any:  # noqa: ANN401
    return torch.maximum(*_tensors(x, y)) if _is_traced(x, y) else max(x, y)


def _quotient(x: Any, y: Any) -> Any:  # noqa: ANN401
    return torch.div(x, y, rounding_mode="floor") if _is_traced(x, y) else x // y


def _is_traced(*values: object) -> bool:
    return any(isinstance(value, Tensor) for value in values)


def _tensors(*values: Any) -> list[Tensor]:  # noqa: ANN401
    return [torch.as_tensor(value, dtype=torch.int64) for value in values]


_REPLACEMENTS: dict[Any, Callable[..., Any]] = {
    _aten.sym_size.int: _size,
    _aten.sym_numel.default: Tensor.numel,
    _aten.slice.Tensor: _slice,
    _aten.copy_.default: _copy,
    _aten._to_copy.default: _convert,  # noqa: SLF001
    _aten._unsafe_view.default: _reshape,  # noqa: SLF001
    _aten.view.default: _reshape,
    _aten.expand.default: _expand,
    _aten.lift_fresh_copy.default: Tensor.clone,
    torch.sym_min: _smaller,
    torch.sym_max: _larger,
    operator.floordiv: _quotient,
}
