"""Calls a symbolic function the way its author expected, whichever year that was.

Today's convention comes first: constants arrive as Values of the graph, and `parse_args` unpacks
them. Functions of 2018 expect Python numbers; one whose signature is of that time, or that fails on
a Value, gets numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from modelexport_exporter.plugins.legacy.older_helpers import constant_of, number_of
from modelexport_exporter.plugins.legacy.older_torch import SymbolicContext
from modelexport_exporter.plugins.signatures import Binding, Signature, bind, read_signature
from modelexport_exporter.torch_internals.operators import schemas_of_kind
from modelexport_exporter.torch_internals.symbolics import GraphContext, Symbolic, unpacks_constants

_TENSORS = ("Tensor", "Optional[Tensor]", "List[Tensor]", "List[Optional[Tensor]]")
_PYTHON_TYPES: dict[str, Callable[[Any], object]] = {"bool": bool, "int": int, "float": float}
_INPLACE = "inplace"
_NO_SCHEMA = "(no schema)"


def called_as_written(function: Symbolic) -> Symbolic:
    """Return a symbolic function with today's convention that calls one of any year."""
    signature = read_signature(function)
    if signature is None or hasattr(function, "to_function_proto"):
        return function

    @functools.wraps(function)
    def symbolic(g: Any, *inputs: Any, **attributes: Any) -> Any:  # noqa: ANN401
        first = (_context(g), g) if signature.takes_context else (g,)
        schema = translated_schema(g)
        if schema is None or attributes:
            return function(*first, *inputs, **attributes)
        return _call(function, signature, first, inputs, schema)

    return symbolic


def translated_schema(g: GraphContext) -> torch.FunctionSchema | None:
    """Return the schema of the operator that is translated; None for what has none.

    By the time of the translation numbers are constant tensors, so that the node itself often
    matches no schema any more: then it is the first whose arguments the inputs can be.
    """
    node: Any = g.original_node
    if node is None:
        return None
    text = node.schema()
    if text and _NO_SCHEMA not in text:
        return torch.parse_schema(text)
    inputs = list(node.inputs())
    schemas = schemas_of_kind(node.kind())
    return next((schema for schema in schemas if _can_be(schema, inputs)), None)


def _can_be(schema: torch.FunctionSchema, inputs: Sequence[Any]) -> bool:
    """Tell whether the inputs of a node can be the arguments of the schema."""
    if len(schema.arguments) != len(inputs) or any(entry.is_out for entry in schema.arguments):
        return False
    return all(
        ("Tensor" in str(entry.real_type)) or constant_of(value) is not value or not _wide(value)
        for entry, value in zip(schema.arguments, inputs, strict=True)
    )


def _wide(value: Any) -> bool:  # noqa: ANN401
    """Tell whether a Value is known to be a tensor with dims, which no number can be."""
    kind = value.type()
    return isinstance(kind, torch.TensorType) and bool(kind.dim())


def _call(
    function: Symbolic,
    signature: Signature,
    first: tuple[Any, ...],
    inputs: Sequence[Any],
    schema: torch.FunctionSchema,
) -> Any:  # noqa: ANN401
    types = [(entry.name, str(entry.real_type)) for entry in schema.arguments][: len(inputs)]
    binding = bind(signature, [argument for argument, _ in types])
    if binding is None:
        raise TypeError(
            f"the symbolic function of {schema.name} takes ({', '.join(signature.names)}), but the "
            f"operator is {schema}"
        )
    python = [
        python_value(value, kind) for value, (_, kind) in zip(inputs, types, strict=False)
    ] + list(inputs[len(types) :])
    ways = [list(inputs), python]
    if binding.adapted or _INPLACE in signature.names:
        ways.reverse()
    if unpacks_constants(function):  # parse_args unpacks the constants
        ways = [list(inputs)]
    try:
        return _pass(function, binding, first, ways[0])
    except Exception:
        for way in ways[1:]:
            try:
                return _pass(function, binding, first, way)
            except Exception:  # noqa: BLE001, S112 - the first way's error is the one to tell
                continue
        raise


def _pass(
    function: Symbolic, binding: Binding, first: tuple[Any, ...], values: Sequence[Any]
) -> Any:  # noqa: ANN401
    if unpacks_constants(function) and binding.keywords:
        # parse_args unpacks by position only.
        return function(*first, *(values[index] for index in _in_order(function, binding)))
    return function(
        *first,
        *(values[index] for index in binding.positions),
        **{name: values[index] for name, index in binding.keywords.items()},
    )


def _in_order(function: Symbolic, binding: Binding) -> list[int]:
    """Return the arguments in the order of the parameters, up to the first that has none."""
    signature = read_signature(function)
    assert signature is not None
    order: list[int] = []
    for name in signature.names:
        if name not in binding.keywords:
            break
        order.append(binding.keywords[name])
    return order


def python_value(value: Any, kind: str) -> Any:  # noqa: ANN401
    """Return a constant that is no tensor as the Python value it was in the model."""
    if kind in _TENSORS:
        return value
    found = constant_of(value)
    if isinstance(found, torch.Tensor):
        found = found.tolist() if kind.startswith("List") else number_of(found)
    cast = _PYTHON_TYPES.get(kind)
    return cast(found) if cast and isinstance(found, bool | int | float) else found


def _context(g: GraphContext) -> SymbolicContext:
    return SymbolicContext(dict(g.params_dict), dict(g.env), g.original_node, g.block)
