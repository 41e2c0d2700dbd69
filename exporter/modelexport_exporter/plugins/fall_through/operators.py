"""Operators that no exporter translates, as nodes of a custom domain: how they are written.

An operator `aten::erfinv` becomes a node `erfinv` of the domain `aten`. Tensors are its inputs, in
the order of the operator's schema; everything else is an attribute under its name in the schema.
Where that would not say which input is which (sizes that depend on an input, lists of tensors,
tensors that are absent), the attribute `arguments` names the inputs in order: `tensors.0`,
`tensors.1`. `overload` names the overload where the operator has several.
Both routes write nodes this way, and verification reads them back and runs them in PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from modelexport_exporter.torch_internals.operators import OpOverload, find_overload, schema_of
from modelexport_exporter.torch_internals.symbolics import JitScalarType

ARGUMENTS = "arguments"
OVERLOAD = "overload"
NO_DOMAINS = frozenset({"", "ai.onnx", "onnx", "prim"})
Attribute = int | float | str | list[int] | list[float] | list[str]

_LEFT_OUT = ("Device", "Layout", "MemoryFormat", "Generator", "Storage", "Stream")
"""Types of arguments that say how a result is stored, not what it is."""


class CannotFallThroughError(Exception):
    """A call that cannot be written as a node; the message says why."""


@dataclass
class Node:
    """A call of an operator, as it is written."""

    domain: str
    op_type: str
    inputs: list[Any] = field(default_factory=list)
    """Values of the graph that is built."""
    attributes: dict[str, Attribute] = field(default_factory=dict)


def is_tensor_type(kind: str) -> bool:
    """Return whether an argument of the type is a tensor, or absent."""
    return kind in {"Tensor", "Optional[Tensor]"}


def write_node(
    schema: torch.FunctionSchema, values: Mapping[str, Any], value_type: type | tuple[type, ...]
) -> Node:
    """Return the node for a call with these arguments by name.

    `value_type`: what a value of the graph that is built looks like; anything else is a constant.
    """
    domain, _, op_type = schema.name.partition("::")
    node = Node(domain, op_type)
    names: list[str] = []
    for argument in schema.arguments:
        value, kind = values.get(argument.name), str(argument.real_type)
        if value is None or any(left_out in kind for left_out in _LEFT_OUT):
            continue
        if isinstance(value, value_type):
            node.inputs.append(value)
            names.append(argument.name)
        elif isinstance(value, list | tuple) and any(
            isinstance(item, value_type) for item in value
        ):
            for position, item in enumerate(value):
                if item is None:
                    continue
                if not isinstance(item, value_type):
                    raise CannotFallThroughError(
                        f"{schema.name}: {argument.name} mixes constants and values"
                    )
                node.inputs.append(item)
                names.append(f"{argument.name}.{position}")
        else:
            node.attributes[argument.name] = _constant(schema.name, argument.name, value, kind)
    tensors = [entry.name for entry in schema.arguments if is_tensor_type(str(entry.real_type))]
    if names != tensors[: len(names)]:
        node.attributes[ARGUMENTS] = names
    if schema.overload_name not in {"", "default"}:
        node.attributes[OVERLOAD] = schema.overload_name
    return node


def _constant(operator: str, name: str, value: Any, kind: str) -> Attribute:  # noqa: ANN401
    if "ScalarType" in kind:
        return dtype_name(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float | str):
        return value
    if isinstance(value, list | tuple):
        items = [int(item) if isinstance(item, bool) else item for item in value]
        if all(isinstance(item, int) for item in items):
            return [int(item) for item in items]
        if all(isinstance(item, int | float) for item in items):
            return [float(item) for item in items]
        if all(isinstance(item, str) for item in items):
            return items
    raise CannotFallThroughError(
        f"{operator}: {name} is a {type(value).__name__}, which no attribute can hold"
    )


def dtype_name(value: Any) -> str:  # noqa: ANN401 - a dtype, or the number of one
    """Return `float32` for torch.float32, or for the number that TorchScript has for it."""
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    return dtype_name(JitScalarType(int(value)).dtype())


@dataclass(frozen=True)
class Call:
    """A node that was read back: its operator, and how the inputs are passed."""

    operator: OpOverload
    names: tuple[str, ...]
    """Of the inputs, `self` or `tensors.0`."""
    constants: Mapping[str, Any]

    def __call__(self, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Run the operator in PyTorch."""
        values: dict[str, Any] = dict(self.constants)
        for name, tensor in zip(self.names, tensors, strict=True):
            owner, _, position = name.partition(".")
            if position:
                items: list[Any] = values.setdefault(owner, [])
                items.extend([None] * (int(position) + 1 - len(items)))
                items[int(position)] = tensor
            else:
                values[owner] = tensor
        arguments = {
            entry.name: _as_argument(values[entry.name], str(entry.real_type))
            for entry in schema_of(self.operator).arguments
            if entry.name in values
        }
        results = self.operator(**arguments)
        return tuple(results) if isinstance(results, list | tuple) else (results,)


def read_node(domain: str, op_type: str, attributes: Mapping[str, Any], inputs: int) -> Call | None:
    """Return the call of a node; None if torch has no such operator."""
    operator = find_operator(domain, op_type, str(attributes.get(OVERLOAD, "")))
    if operator is None:
        return None
    arguments = schema_of(operator).arguments
    tensors = [entry.name for entry in arguments if is_tensor_type(str(entry.real_type))]
    names = tuple(attributes.get(ARGUMENTS, tensors[:inputs]))
    if len(names) != inputs:
        return None
    constants = {
        entry.name: attributes[entry.name] for entry in arguments if entry.name in attributes
    }
    return Call(operator, names, constants)


def find_operator(domain: str, op_type: str, overload: str) -> OpOverload | None:
    """Return torch's operator of a node, if it has one."""
    if domain in NO_DOMAINS or "." in domain:
        return None
    return find_overload(f"{domain}::{op_type}.{overload}")


def _as_argument(value: Any, kind: str) -> Any:  # noqa: ANN401
    """Return an attribute, or an input, as the type that the operator's schema asks for."""
    if is_tensor_type(kind) or "Tensor" in kind:
        return value
    if isinstance(value, torch.Tensor):
        return value.tolist() if value.dim() else value.item()
    if isinstance(value, list) and any(isinstance(item, torch.Tensor) for item in value):
        return [item.item() if isinstance(item, torch.Tensor) else item for item in value]
    if "ScalarType" in kind:
        return getattr(torch, str(value))
    if "bool" in kind:
        return [bool(item) for item in value] if isinstance(value, list) else bool(value)
    return value
