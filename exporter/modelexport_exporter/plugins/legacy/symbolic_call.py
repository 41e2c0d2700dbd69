"""Call a symbolic function as its author expected, in any release of torch.

Today's convention comes first: constants arrive as Values of the graph, and `parse_args` unpacks
them. Functions of 2018 expect Python numbers; one whose signature is of that time, or that fails on
a Value, gets numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch

from modelexport_exporter.plugins.graph_values import python_value, translated_schema
from modelexport_exporter.plugins.legacy.older_torch import SymbolicContext
from modelexport_exporter.plugins.legacy.signatures import Binding, Signature, bind, read_signature
from modelexport_exporter.torch_internals.symbolics import GraphContext, Symbolic, unpacks_constants

_INPLACE = "inplace"


def call_as_written(function: Symbolic) -> Symbolic:
    """Return a symbolic function of today's convention that calls one of any release."""
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
            except Exception:  # noqa: BLE001, S112 - the first way's error is raised
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


def _context(g: GraphContext) -> SymbolicContext:
    return SymbolicContext(dict(g.params_dict), dict(g.env), g.original_node, g.block)
