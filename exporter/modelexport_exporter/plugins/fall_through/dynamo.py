"""Fall through on the torch.export route: translations for operators that have none.

Guarantees that the operator that the model called is written, not the primitives that torch would
decompose it into.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import onnx_ir as ir
import torch
from torch.export import ExportedProgram

from modelexport_exporter.decompositions.programs import calls
from modelexport_exporter.plugins.fall_through.operators import (
    CannotFallThroughError,
    Node,
    write_node,
)
from modelexport_exporter.torch_internals.operators import OpOverload, schema_of
from modelexport_exporter.torch_internals.translation import (
    current_nodes,
    decompose_keeping,
    translates,
)

Table = dict[Any, Callable[..., Any]]
_ROUNDS = 8


def fall_through_table(
    program: ExportedProgram, opset: int, translated: Collection[object]
) -> Table:
    """Return a translation for every operator of the program that has none."""
    table: Table = {}
    for _ in range(_ROUNDS):
        # An operator that is not decomposed any more may show others that it hid.
        known = [*translated, *table]
        found = set(_find_untranslated(program, opset, known))
        if not found:
            break
        table |= {operator: _translation(operator) for operator in found}
    return table


def _find_untranslated(
    program: ExportedProgram, opset: int, translated: Collection[object]
) -> Iterator[OpOverload]:
    called = _called_operators(program)
    for node in calls(decompose_keeping(program, opset, translated)):
        if not translates(node, opset, translated):
            operator = _origin(node, called)
            if isinstance(operator, OpOverload):
                yield operator


def _called_operators(program: ExportedProgram) -> dict[str, OpOverload]:
    """Return the operator of each node before it is decomposed, by the node's name."""
    return {
        node.name: node.target for node in calls(program) if isinstance(node.target, OpOverload)
    }


def _origin(node: torch.fx.Node, called: dict[str, OpOverload]) -> object:
    """Return the operator that the model called where this node is now."""
    sources: list[Any] = list(node.meta.get("from_node") or ())
    while sources:
        source = sources[-1]
        if source.name in called and _can_be_kept(called[source.name]):
            return called[source.name]
        sources = list(source.from_node)
    original = node.meta.get("original_aten")
    if isinstance(original, OpOverload) and _can_be_kept(original):
        return original
    return node.target


def _can_be_kept(operator: OpOverload) -> bool:
    """Return whether torch.export can keep an operator undecomposed: it writes to no argument."""
    schema = schema_of(operator)
    return not schema.is_mutable and all("Tensor" in str(entry.type) for entry in schema.returns)


def _translation(operator: OpOverload) -> Callable[..., Any]:
    """Return what writes a call of the operator as a node of a custom domain."""
    schema = schema_of(operator)
    names = [argument.name for argument in schema.arguments]

    def translate(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        values = {**dict(zip(names, args, strict=False)), **kwargs}
        node = write_node(schema, {key: _whole(value) for key, value in values.items()}, ir.Value)
        if any("List" in str(entry.type) for entry in schema.returns):
            raise CannotFallThroughError(f"{schema.name} returns a list of tensors")
        return _record(node, len(schema.returns))

    translate.__name__ = schema.name.replace("::", "_")
    return translate


def _whole(value: Any) -> Any:  # noqa: ANN401
    """Return a list of sizes, some of them values of the graph, as values only."""
    if not isinstance(value, list | tuple) or not any(isinstance(item, ir.Value) for item in value):
        return value
    return [_constant(item) if isinstance(item, int) else item for item in value]


def _constant(number: int) -> ir.Value:
    tensor = ir.tensor(number, dtype=ir.DataType.INT64)
    made = ir.Node("", "Constant", [], [ir.AttrTensor("value", tensor)])
    current_nodes().append(made)
    return made.outputs[0]


def _record(node: Node, outputs: int) -> Any:  # noqa: ANN401
    made = ir.Node(
        node.domain,
        node.op_type,
        node.inputs,
        ir.convenience.convert_attributes(_with_types(node.attributes)),
        num_outputs=outputs,
        version=1,
    )
    current_nodes().append(made)
    return made.outputs[0] if outputs == 1 else tuple(made.outputs)


def _with_types(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes with a type for empty lists, which are lists of ints in ATen."""
    return {
        name: ir.AttrInt64s(name, []) if value == [] else value
        for name, value in attributes.items()
    }
