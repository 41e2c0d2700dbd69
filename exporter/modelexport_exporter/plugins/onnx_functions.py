"""ONNX functions: bodies that make an operator of a custom domain run in any runtime.

Guarantees that a model holds exactly the functions that its nodes use, transitively, written for
the model's own opset: ONNX does not allow a function of another opset version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import onnx
import onnx_ir as ir

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure

_STANDARD = ("", "ai.onnx")
Identifier = tuple[str, str]


def add_functions(model: ir.Model, available: Sequence[Any]) -> None:
    """Add what the model's nodes use of the available functions, and what these use."""
    known = dict(_by_identifier(available))
    present = {(function.domain, function.name) for function in model.functions.values()}
    opset = model.opset_imports.get("", 1)
    for function in list(model.functions.values()):
        _align_present(model, function, opset)
    waiting = _used_identifiers(model.graph.all_nodes())
    for function in model.functions.values():
        waiting |= _used_identifiers(function.all_nodes())
    while waiting:
        identifier = waiting.pop()
        if identifier in present or identifier not in known:
            continue
        present.add(identifier)
        added = ir.serde.deserialize_function(at_opset(known[identifier], opset))
        model.functions[added.identifier()] = added
        waiting |= _used_identifiers(added.all_nodes())


def _align_present(model: ir.Model, function: ir.Function, opset: int) -> None:
    """Rewrite a function that torch put into the model for another opset."""
    if function.opset_imports.get("", opset) != opset:
        proto = ir.serde.serialize_function(function)
        aligned = ir.serde.deserialize_function(at_opset(proto, opset))
        model.functions[function.identifier()] = aligned


def set_opsets(model: ir.Model, versions: Mapping[str, int]) -> None:
    """Give every domain in use the requested version, or 1; remove unused domains."""
    graphs: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    used = {node.domain for graph in graphs for node in graph.all_nodes()}
    used |= {function.domain for function in model.functions.values()}
    for domain in sorted(used - set(_STANDARD)):
        if domain in versions:
            model.opset_imports[domain] = versions[domain]
        else:
            model.opset_imports.setdefault(domain, 1)
    for function in model.functions.values():
        for domain in {node.domain for node in function.all_nodes()} - set(_STANDARD):
            function.opset_imports[domain] = model.opset_imports[domain]


def at_opset(function: onnx.FunctionProto, opset: int) -> onnx.FunctionProto:
    """Return the function for an opset; fail where an operator in it has changed too much."""
    written_for = next(
        (entry.version for entry in function.opset_import if entry.domain in _STANDARD), opset
    )
    result = onnx.FunctionProto()
    result.CopyFrom(function)
    if written_for == opset:
        return result
    changed = sorted(
        {
            node.op_type
            for node in _all_nodes(function.node)
            if node.domain in _STANDARD and not _still_valid(node, opset)
        }
    )
    if changed:
        return _convert(function, written_for, opset, changed)
    for entry in result.opset_import:
        if entry.domain in _STANDARD:
            entry.version = opset
    return result


def _still_valid(node: onnx.NodeProto, opset: int) -> bool:
    """Return whether the node, as it is written, is valid in the opset."""
    try:
        schema = onnx.defs.get_schema(node.op_type, opset, "")
    except onnx.defs.SchemaError:
        return False
    attributes = {attribute.name for attribute in node.attribute}
    required = {name for name, entry in schema.attributes.items() if entry.required}
    return (
        not schema.deprecated
        and attributes <= set(schema.attributes)
        and required <= attributes
        and schema.min_input <= len(node.input) <= schema.max_input
        and schema.min_output <= len(node.output) <= schema.max_output
    )


def _convert(
    function: onnx.FunctionProto, written_for: int, opset: int, changed: list[str]
) -> onnx.FunctionProto:
    """Let ONNX's version converter rewrite the body."""
    graph = onnx.helper.make_graph(
        list(function.node),
        function.name,
        [onnx.helper.make_empty_tensor_value_info(name) for name in function.input],
        [onnx.helper.make_empty_tensor_value_info(name) for name in function.output],
    )
    model = onnx.helper.make_model(graph, opset_imports=list(function.opset_import))
    too_different = ExportFailure(
        Reason.CODE_INVALID,
        f"the function {function.domain}::{function.name} is written for opset {written_for}, "
        f"the file has opset {opset}, and {', '.join(changed)} changed in between",
        f"Set export.opset to {written_for}, or write the function for opset {opset}.",
    )
    if function.attribute or function.attribute_proto:
        raise too_different  # the converter drops references to them
    try:
        body = onnx.version_converter.convert_version(model, opset).graph
    except RuntimeError as error:
        raise too_different from error
    if body.initializer:
        raise too_different  # a function holds none
    result = onnx.FunctionProto()
    result.CopyFrom(function)
    del result.node[:]
    result.node.extend(body.node)
    for entry in result.opset_import:
        if entry.domain in _STANDARD:
            entry.version = opset
    return result


def _by_identifier(functions: Iterable[Any]) -> Iterator[tuple[Identifier, onnx.FunctionProto]]:
    """Yield every function, and those that an onnxscript function calls."""
    for function in functions:
        if isinstance(function, onnx.FunctionProto):
            yield (function.domain, function.name), function
        elif isinstance(function, ir.Function):
            yield (function.domain, function.name), ir.serde.serialize_function(function)
        else:
            proto = function.to_function_proto()
            yield (proto.domain, proto.name), proto
            for called in function.function_ir.get_called_functions().values():
                inner = called.to_function_proto()
                yield (inner.domain, inner.name), inner


def _used_identifiers(nodes: Iterable[ir.Node]) -> set[Identifier]:
    return {(node.domain, node.op_type) for node in nodes if node.domain not in _STANDARD}


def _all_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):  # an absent graph reads as an empty one
                yield from _all_nodes(graph.node)
