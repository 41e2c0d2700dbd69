"""Graph.op and Graph.onnxscript_op as symbolic functions of all years call them.

Guarantees that a constant of the graph is taken where an attribute needs a number, that a Python
number is taken where an operator needs an input, and that functions written with onnxscript are
noted, so that they can be put into the file whatever version their domain has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from modelexport_exporter.plugins.legacy.older_helpers import constant_of, number_of
from modelexport_exporter.torch_internals.symbolics import (
    GraphContext,
    JitScalarType,
    replace_graph_methods,
)

_OBSOLETE = frozenset({"broadcast_i"})
"""Attributes of opset 6 that say what is the rule since opset 7."""
_CASTS: dict[str, Callable[[Any], object]] = {"f": float, "i": int, "s": str}


@dataclass
class UsedFunctions:
    """The onnxscript functions that symbolic functions put into the graph."""

    functions: list[Any] = field(default_factory=list)

    def note(self, function: Any) -> None:  # noqa: ANN401 - an onnxscript.OnnxFunction
        """Keep each function once."""
        if not any(function is known for known in self.functions):
            self.functions.append(function)


@contextmanager
def lenient_graph() -> Iterator[UsedFunctions]:
    """Let symbolic functions call the graph as they are used to, while the block runs."""
    strict_op: Any = GraphContext.op
    used = UsedFunctions()

    def op(self: Any, name: str, *inputs: object, outputs: int = 1, **attributes: object) -> Any:  # noqa: ANN401
        return strict_op(
            self,
            name,
            *(as_input(value, inputs) for value in inputs),
            outputs=outputs,
            **{
                key: as_attribute(key, value)
                for key, value in attributes.items()
                if key not in _OBSOLETE
            },
        )

    def onnxscript_op(
        self: Any,  # noqa: ANN401
        function: Any,  # noqa: ANN401
        *inputs: object,
        outputs: int = 1,
        **attributes: object,
    ) -> Any:  # noqa: ANN401
        used.note(function)
        name = f"{function.opset.domain}::{function.name}"
        return op(self, name, *inputs, outputs=outputs, **attributes)

    with replace_graph_methods(op, onnxscript_op):
        yield used


def as_attribute(key: str, value: object) -> object:
    """Return a value for the attribute `key`, `alpha_f`: constants of the graph become numbers."""
    kind = key.rpartition("_")[2]
    found = constant_of(value)
    if isinstance(found, list | tuple):
        return [_cast(kind, constant_of(item)) for item in found]
    return _cast(kind, found)


def _cast(kind: str, value: object) -> object:
    if kind not in _CASTS or value is None or isinstance(value, torch.Value):
        return value
    if isinstance(value, torch.Tensor) and value.numel() != 1:
        return [_CASTS[kind](item) for item in value.flatten().tolist()]
    return _CASTS[kind](number_of(value))


def as_input(value: object, inputs: tuple[object, ...]) -> object:
    """Return an input of an operator: a number becomes a tensor of its neighbours' type."""
    if not isinstance(value, bool | int | float | list | tuple):
        return value
    if isinstance(value, list | tuple) and any(isinstance(item, torch.Value) for item in value):
        return value
    neighbour = next((entry for entry in inputs if isinstance(entry, torch.Value)), None)
    undefined = JitScalarType.UNDEFINED
    known = JitScalarType.from_value(neighbour, undefined)
    whole = isinstance(value, list | tuple)
    dtype = None if whole or known is undefined else known.dtype()
    return torch.tensor(value, dtype=dtype)
