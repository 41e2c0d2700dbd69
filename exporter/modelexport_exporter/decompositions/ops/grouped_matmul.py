"""Groups of rows, each multiplied by the matrix of its group: a mixture of experts.

`offs` [groups] are the ends of the groups along the rows, known only when the model runs.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family
from modelexport_exporter.torch_internals.symbolic_sizes import check

FAMILY = Family("Grouped matrix products", __doc__)

_METHOD = "a product for each group, of the rows between two ends"


def _product(x: Tensor, weight: Tensor, offs: Tensor) -> Tensor:
    """Return [rows, out] for x [rows, in] and weight [groups, in, out]; 0 past the last group."""
    *groups, rest = _cut_groups(x, offs)
    products = [rows @ matrix for rows, matrix in zip(groups, weight, strict=True)]
    return torch.cat([*products, torch.zeros_like(rest @ weight[0])])


def _cut_groups(x: Tensor, offs: Tensor) -> list[Tensor]:
    """Return the rows between each two ends, and those after the last."""
    ends = offs.unbind()
    if torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
        bounds = (torch.zeros_like(ends[0]), *ends)
        groups = [x[begin:end] for begin, end in pairwise(bounds)]
        return [*groups, x[ends[-1] :]]
    groups, begin = [], 0
    for end in (end.item() for end in ends):
        check(end >= begin)
        check(end <= x.shape[0])
        groups.append(x.narrow(0, begin, end - begin))  # type: ignore[arg-type]
        begin = end  # type: ignore[assignment]
    return [*groups, x.narrow(0, begin, x.shape[0] - begin)]


def _is_grouped(
    x: Tensor, mat2: Tensor, offs: Tensor | None = None, bias: Tensor | None = None, *_: object
) -> bool:
    return x.dim() == 2 and mat2.dim() == 3 and offs is not None and bias is None


@FAMILY.decomposes(
    "aten::_grouped_mm", method=_METHOD, accuracy="3e-7 (float32)", applies=_is_grouped
)
def grouped_mm(
    x: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    assert offs is not None
    result = _product(x, mat2, offs)
    return result if out_dtype is None else result.to(out_dtype)


@FAMILY.decomposes("transformers::grouped_mm_fallback", method=_METHOD, accuracy="3e-7 (float32)")
def grouped_mm_fallback(x: Tensor, weight: Tensor, offs: Tensor) -> Tensor:
    return _product(x, weight, offs)
