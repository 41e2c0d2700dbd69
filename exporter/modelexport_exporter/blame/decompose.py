"""PyTorch's decompositions, for the intermediate values of an op.

Exporters write many ops as several nodes: a softmax as exp, sum and division. Eager computes them
in one kernel, which has no values to compare with these; its decomposition has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from modelexport_exporter.torch_internals.decomposition_table import decomposition_table
from modelexport_exporter.torch_internals.operators import OpOverload, schema_of

_aten = torch.ops.aten


def find_decomposition(op: object) -> Callable[..., Any] | None:
    """Return a function that computes the op in smaller steps; None if there is none."""
    if op in _OWN:
        return _OWN[op]
    function = decomposition_table.get(op)  # type: ignore[call-overload]
    if function is None or not isinstance(op, OpOverload):
        return None
    changes = schema_of(op).is_mutable
    if changes or torch.Tag.nondeterministic_seeded in op.tags or "backward" in str(op):
        return None
    return function  # type: ignore[no-any-return]


def _group_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    *sizes: Any,  # noqa: ANN401
) -> torch.Tensor:
    """Normalise, scale and shift in separate ops; PyTorch's decomposition fuses them on CPU."""
    batch, channels, _, groups, epsilon = sizes
    grouped = x.reshape(batch, groups, -1)
    variance, mean = torch.var_mean(grouped, dim=-1, correction=0, keepdim=True)
    y = ((grouped - mean) * torch.rsqrt(variance + epsilon)).view(x.shape)
    shape = [1, channels, *[1] * (x.dim() - 2)]
    if weight is not None:
        y = y * weight.view(shape)
    return y if bias is None else y + bias.view(shape)


def _variance(
    x: torch.Tensor,
    dim: list[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> torch.Tensor:
    """Average the squares of the distances from the mean, as exporters write it."""
    own = list(dim) if dim else list(range(x.dim()))
    distances = x - x.mean(own, keepdim=True)
    average = (distances * distances).mean(own, keepdim)
    count = x.numel() / max(average.numel(), 1)
    freedom = count - (1.0 if correction is None else correction)
    return average * count / freedom


def _deviation(x: torch.Tensor, dim: list[int] | None = None, **options: Any) -> torch.Tensor:  # noqa: ANN401
    return _variance(x, dim, **options).sqrt()


_OWN: dict[object, Callable[..., Any]] = {
    _aten.native_group_norm.default: _group_norm,
    _aten.var.correction: _variance,
    _aten.std.correction: _deviation,
}
