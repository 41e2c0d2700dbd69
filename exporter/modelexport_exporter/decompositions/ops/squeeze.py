"""squeeze of dims that are not of size 1: torch keeps them, ONNX's Squeeze refuses them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Squeeze", __doc__)

_METHOD = "dims of size 1 alone"


def _is_one(x: Tensor, dim: int) -> bool:
    """Return whether the size is statically known to be 1."""
    if x.dim() == 0:
        return True
    size = x.shape[dim]
    if torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
        return int(size) == 1
    return statically_known_true(size == 1)


def _single(dim: int | Sequence[int]) -> list[int]:
    return [dim] if isinstance(dim, int) else list(dim)


def _is_refused(x: Tensor, dim: int | Sequence[int]) -> bool:
    return not isinstance(dim, int) or not _is_one(x, dim)


@FAMILY.decomposes(
    "aten::squeeze.dim",
    "aten::squeeze.dims",
    "aten::squeeze_copy.dim",
    defect="ONNX's Squeeze refuses dims of another size than 1",
    report="https://github.com/onnx/onnx/issues/3764",
    method=_METHOD,
    applies=_is_refused,
)
def squeeze(x: Tensor, dim: int | Sequence[int]) -> Tensor:
    ones = [each % x.dim() for each in _single(dim) if x.dim() and _is_one(x, each)]
    if not ones:
        return x.clone()
    for each in sorted(ones, reverse=True):
        x = torch.squeeze(x, each)
    return x
