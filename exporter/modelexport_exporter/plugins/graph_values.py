"""What a TorchScript graph says in Python: the values of constants, and the schemas of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from modelexport_exporter.torch_internals.operators import schemas_of_kind
from modelexport_exporter.torch_internals.symbolics import GraphContext, read_attribute

_CONSTANT = "onnx::Constant"
_NO_SCHEMA = "(no schema)"
_TENSORS = ("Tensor", "Optional[Tensor]", "List[Tensor]", "List[Optional[Tensor]]")
_PYTHON_TYPES: dict[str, Callable[[Any], object]] = {"bool": bool, "int": int, "float": float}


def constant_of(value: object) -> object:
    """Return what a constant Value holds: a number, a list of numbers, or a tensor; None for None.

    Any other Value, and anything that is no Value, is returned as it is.
    """
    if not isinstance(value, torch.Value):
        return value
    node = value.node()
    if node.mustBeNone():
        return None
    if node.kind() == _CONSTANT:
        return read_attribute(node, "value")
    if node.kind() in {"prim::ListConstruct", "prim::TupleConstruct"}:
        items = [number_of(constant_of(item)) for item in node.inputs()]
        if not any(isinstance(item, torch.Value) for item in items):
            return items
    return value


def number_of(value: object) -> object:
    """Return the number in a tensor of one element; anything else as it is."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return value.item()
    return value


def python_value(value: Any, kind: str) -> Any:  # noqa: ANN401
    """Return a constant that is no tensor as the Python value it was in the model."""
    if kind in _TENSORS:
        return value
    found = constant_of(value)
    if isinstance(found, torch.Tensor):
        found = found.tolist() if kind.startswith("List") else number_of(found)
    cast = _PYTHON_TYPES.get(kind)
    return cast(found) if cast and isinstance(found, bool | int | float) else found


def translated_schema(g: GraphContext) -> torch.FunctionSchema | None:
    """Return the schema of the operator that is being translated; None if it has none.

    Numbers are constant tensors by then, so the node itself often matches no schema any more: the
    first schema that can take the node's inputs is returned.
    """
    node: Any = g.original_node
    if node is None:
        return None
    text = node.schema()
    if text and _NO_SCHEMA not in text:
        return torch.parse_schema(text)
    inputs = list(node.inputs())
    return next((schema for schema in schemas_of_kind(node.kind()) if _takes(schema, inputs)), None)


def _takes(schema: torch.FunctionSchema, inputs: Sequence[Any]) -> bool:
    """Return whether the inputs of a node can be the arguments of the schema."""
    if len(schema.arguments) != len(inputs) or any(entry.is_out for entry in schema.arguments):
        return False
    return all(
        "Tensor" in str(entry.real_type) or constant_of(value) is not value or not _has_dims(value)
        for entry, value in zip(schema.arguments, inputs, strict=True)
    )


def _has_dims(value: Any) -> bool:  # noqa: ANN401
    """Return whether a Value is known to be a tensor with dims, which no number can be."""
    kind = value.type()
    return isinstance(kind, torch.TensorType) and bool(kind.dim())
