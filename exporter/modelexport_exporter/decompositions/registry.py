"""What the library holds: for each ATen operator its decomposition, and why there is one.

A decomposition is a Python function with the operator's ATen signature that calls operators which
torch.onnx translates rightly. It is registered under the operator's name with the overload,
`aten::median.dim`; the default overload has none, `aten::erfinv`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Applies = Callable[..., bool]


class Why(StrEnum):
    """Why torch.onnx is not left to translate the operator."""

    UNSUPPORTED = "Unsupported"
    WRONG = "Wrong"
    """The file is written, and computes something else or does not load."""


@dataclass(frozen=True)
class Decomposition:
    """How one overload of an ATen operator is computed."""

    name: str
    """`aten::median.dim`"""
    function: Callable[..., Any]
    why: Why
    method: str
    accuracy: str
    applies: Applies
    """Called with the operator's arguments: whether the decomposition is needed for these."""

    @property
    def operator(self) -> str:
        """Return the name without the overload, `aten::median`."""
        return self.name.partition(".")[0]


DECOMPOSITIONS: dict[str, Decomposition] = {}
COMPOSITES: set[str] = set()
"""Operators that consist of operators above: torch's own definition of them is applied first."""


def decomposes(
    *names: str,
    why: Why = Why.UNSUPPORTED,
    method: str,
    accuracy: str = "exact",
    applies: Applies | None = None,
) -> Callable[[Function], Function]:
    """Register the function as the decomposition of these overloads."""

    def register(function: Function) -> Function:
        for name in names:
            assert name not in DECOMPOSITIONS, name
            DECOMPOSITIONS[name] = Decomposition(
                name, function, why, method, accuracy, applies or (lambda *_, **__: True)
            )
        return function

    return register


def composites(*names: str) -> None:
    """Name operators whose own definition leads to a decomposition."""
    COMPOSITES.update(names)


def enabled(name: str, disabled: Collection[str]) -> bool:
    """Return whether the user wants the operator rewritten."""
    return "*" not in disabled and name.partition(".")[0] not in disabled
