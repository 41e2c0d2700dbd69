"""A family of decompositions: which ATen operators it replaces, and what is wrong without it.

A decomposition is a Python function with the operator's ATen signature that calls operators which
torch.onnx translates correctly. It is registered under the operator's name with the overload,
`aten::median.dim`; the default overload has none, `aten::erfinv`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Applies = Callable[..., bool]


@dataclass(frozen=True)
class Decomposition:
    """How one overload of an ATen operator is computed."""

    name: str
    """`aten::median.dim`"""
    function: Callable[..., Any]
    defect: str
    """What torch.onnx or onnxruntime computes instead; empty: torch.onnx does not translate it."""
    report: str
    """The upstream thread about that; empty where none is known."""
    method: str
    accuracy: str
    applies: Applies
    """Called with the operator's arguments: whether the decomposition is needed for these."""

    @property
    def operator(self) -> str:
        """Return the name without the overload, `aten::median`."""
        return self.name.partition(".")[0]


class Family:
    """Decompositions that belong together: one file, and one table of the documentation."""

    def __init__(self, title: str, description: str | None) -> None:
        self.title = title
        self.description = (description or "").strip()
        self.decompositions: dict[str, Decomposition] = {}
        self.composites: set[str] = set()
        """Operators that torch defines by decomposed ones: its definition is applied first."""

    def decomposes(
        self,
        *names: str,
        method: str,
        defect: str = "",
        report: str = "",
        accuracy: str = "exact",
        applies: Applies | None = None,
    ) -> Callable[[Function], Function]:
        """Register the function as the decomposition of these overloads."""

        def register(function: Function) -> Function:
            needed = _always if applies is None else _taking_names_of(function, applies)
            for name in names:
                self.decompositions[name] = Decomposition(
                    name, function, defect, report, method, accuracy, needed
                )
            return function

        return register


_signature = functools.cache(inspect.signature)
"""Read when it is needed: few decompositions are, and each worker imports all."""


def _taking_names_of(function: Callable[..., Any], applies: Applies) -> Applies:
    """Return `applies` for calls that name arguments as the function does: `pdist(x, p=1)`.

    A call whose names it does not have, it gets by position.
    """

    def applies_to(*args: Any, **kwargs: Any) -> bool:  # noqa: ANN401
        try:
            _signature(applies).bind(*args, **kwargs)
        except TypeError:
            bound = _signature(function).bind(*args, **kwargs)
            bound.apply_defaults()
            return applies(*bound.args, **bound.kwargs)
        return applies(*args, **kwargs)

    return applies_to


def _always(*_: object, **__: object) -> bool:
    return True


def enabled(name: str, disabled: Collection[str]) -> bool:
    """Return whether the user wants the operator rewritten."""
    return "*" not in disabled and name.partition(".")[0] not in disabled
