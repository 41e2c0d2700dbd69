"""Functions of torch, and what is called in their place while torch.export captures a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import SymInt

Call = Callable[..., Any]
Result = Any
"""A tensor, several, or NotImplemented."""


class Replacements(dict[Any, tuple[str, Call]]):
    """From a function of torch to its operator's name and what is called in its place."""

    def replaces(self, name: str, *functions: Any) -> Callable[[Call], Call]:  # noqa: ANN401
        """Register a replacement: it has the same signature, or returns NotImplemented."""

        def register(replacement: Call) -> Call:
            self.update(dict.fromkeys(functions, (f"aten::{name}", replacement)))
            return replacement

        return register


def is_open(size: object) -> bool:
    """Return whether the size is that of a dynamic dim."""
    return isinstance(size, SymInt)
