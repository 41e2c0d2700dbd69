"""Orders of equal values that torch leaves open: by their index, as runtimes do, or any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from fuzz.mode import Mode

_Given = Mapping[str, Any]
_PLACES: Mapping[str, Callable[[torch.Tensor, _Given], torch.Tensor]] = {
    "kthvalue": lambda x, given: _valid(x, given).fill_(given["k"] - 1),
    "median": lambda x, given: _valid(x, given).fill_((x.shape[given["dim"]] - 1) // 2),
    "nanmedian": lambda x, given: ((_valid(x, given) - 1) // 2).clamp(min=0),
}
"""The place in a sorted dim that an operator selects."""


def other_order(
    func: Any,  # noqa: ANN401
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    generator: torch.Generator | None,
) -> object:
    """Return what an operator that orders values returns if equal ones stand elsewhere.

    Without a generator by their index. None for other operators, and for a stable sort, which has
    one order.
    """
    name = func._schema.name.split("::")[-1]
    if name not in {"sort", "topk", *_PLACES} or not args[0].dim():
        return None
    arguments = func._schema.arguments
    given = {argument.name: argument.default_value for argument in arguments}
    given |= {argument.name: value for argument, value in zip(arguments, args, strict=False)}
    given |= dict(kwargs)
    dim = given.get("dim")
    if given.get("stable") or dim is None:
        return None
    if generator is not None:
        places = torch.randperm(args[0].shape[dim], generator=generator)
        values, found = func(args[0].index_select(dim, places), *args[1:], **kwargs)
        return values, places[found]
    if name in _PLACES:
        return _select(func(*args, **kwargs), _PLACES[name](args[0], given), args[0], given)
    descending = bool(given.get("descending", given.get("largest")))
    values, found = torch.sort(args[0], dim=dim, descending=descending, stable=True)
    return tuple(part.narrow(dim, 0, given.get("k", part.shape[dim])) for part in (values, found))


def _valid(x: torch.Tensor, given: _Given) -> torch.Tensor:
    return (x == x).sum(given["dim"], keepdim=True)  # noqa: PLR0124 - not NaN


def _select(
    answer: tuple[torch.Tensor, torch.Tensor], place: torch.Tensor, x: torch.Tensor, given: _Given
) -> tuple[torch.Tensor, torch.Tensor]:
    order = torch.sort(x, dim=given["dim"], stable=True).indices
    found = order.gather(given["dim"], place)
    found = found if given["keepdim"] else found.squeeze(given["dim"])
    return answer[0], torch.where(answer[0].isnan(), answer[1], found)


class ByIndex(Mode):  # type: ignore[no-untyped-call]
    """While active, eager orders equal values by their index."""

    def on_op(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> object:  # noqa: ANN401
        """Return what the operator answers with that order."""
        ordered = other_order(func, args, kwargs, None)
        return func(*args, **kwargs) if ordered is None else ordered
