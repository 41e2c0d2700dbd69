"""Rankings in the order that ONNX specifies: of equal values, the first position comes first.

torch.topk, sort, kthvalue and median do not specify the order of equal values, ONNX's TopK does.
While this mode is active, eager PyTorch ranks as ONNX specifies. A file that agrees with it differs
from eager in the order of equal values, and in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name
from modelexport_exporter.torch_internals.operators import schema_of

Ranked = tuple[Tensor, Tensor]
"""Values and their positions."""


class StableRankings(AtenMode):
    """While active, ATen ops that rank values put the first of equal ones first."""

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return what the op returns, with its equal values in the order of their positions."""
        returned = func(*args, **kwargs)
        rank = _RANKINGS.get(op_name(func))
        if rank is None or not isinstance(returned, tuple) or not args[0].dim():
            return returned
        arguments = schema_of(func).arguments
        given = {argument.name: argument.default_value for argument in arguments}
        given |= {argument.name: value for argument, value in zip(arguments, args, strict=False)}
        return rank(args[0], {**given, **kwargs}, returned)


def _topk(x: Tensor, given: Mapping[str, Any], _returned: Ranked) -> Ranked:
    values, positions = torch.sort(x, dim=given["dim"], descending=given["largest"], stable=True)
    first = slice(0, given["k"])
    return _at(values, given["dim"], first), _at(positions, given["dim"], first)


def _at(x: Tensor, dim: int, places: slice) -> Tensor:
    return x.movedim(dim, 0)[places].movedim(0, dim).contiguous()


def _sort(x: Tensor, given: Mapping[str, Any], _returned: Ranked) -> Ranked:
    values, positions = torch.sort(x, dim=given["dim"], descending=given["descending"], stable=True)
    return values, positions


def _kthvalue(x: Tensor, given: Mapping[str, Any], returned: Ranked) -> Ranked:
    return _select(x, given, returned, lambda valid: torch.full_like(valid, given["k"] - 1))


def _median(x: Tensor, given: Mapping[str, Any], returned: Ranked) -> Ranked:
    middle = (x.shape[given["dim"]] - 1) // 2
    return _select(x, given, returned, lambda valid: torch.full_like(valid, middle))


def _nanmedian(x: Tensor, given: Mapping[str, Any], returned: Ranked) -> Ranked:
    return _select(x, given, returned, lambda valid: ((valid - 1) // 2).clamp(min=0))


def _select(
    x: Tensor, given: Mapping[str, Any], returned: Ranked, place: Callable[[Tensor], Tensor]
) -> Ranked:
    """Return the element at a place of the sorted dim, except where it is NaN.

    `place`: from the number of elements that are not NaN.
    """
    dim, values = given["dim"], returned[0]
    order = torch.sort(x, dim=dim, stable=True).indices
    found = order.gather(dim, place((x == x).sum(dim, keepdim=True)))  # noqa: PLR0124
    if not given["keepdim"]:
        found = found.squeeze(dim)
    return values, torch.where(torch.isnan(values), returned[1], found)


_RANKINGS: Mapping[str, Callable[[Tensor, Mapping[str, Any], Ranked], Ranked]] = {
    "topk": _topk,
    "sort": _sort,
    "kthvalue": _kthvalue,
    "median": _median,
    "nanmedian": _nanmedian,
}
