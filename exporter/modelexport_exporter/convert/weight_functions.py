"""Operators of weights alone that ONNX has not: PyTorch computes them once, at the export.

`torch.linalg.eigh(self.weight)`, the products of Householder of an orthogonal parametrization. The
results are constants of the program. Other weights need another translation.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, TensorArgument
from torch.fx import Node

from modelexport_exporter.torch_internals.operators import OpOverload, schema_of


def with_computed_weights(program: ExportedProgram, names: Collection[str]) -> bool:
    """Replace the calls of these names that read weights only; return whether there were any.

    Raises what PyTorch raises for such weights.
    """
    fixed = _fixed(program)
    calls = [node for node in program.graph.nodes if node.name in names and node.name in fixed]
    if not calls:
        return False
    values = _values(program, calls)
    if not all(map(_is_computed, values.values())):
        return False  # weights without data
    for node in calls:
        for result, value in _results(node, values[node.name]):
            result.replace_all_uses_with(_constant(program, result, value))
    program.graph.eliminate_dead_code()
    program.graph_module.recompile()
    return True


def _fixed(program: ExportedProgram) -> set[str]:
    """Return the nodes that depend on no input, on no random number and on nothing that changes."""
    signature = program.graph_signature
    changed = set(signature.buffers_to_mutate.values())
    changing = {name for name, buffer in signature.inputs_to_buffers.items() if buffer in changed}
    found = set(_sources(program)) - changing
    for node in program.graph.nodes:
        is_function = node.op == "call_function" and _is_function(node.target)
        if is_function and all(source.name in found for source in node.all_input_nodes):
            found.add(node.name)
    return found


def _is_function(target: object) -> bool:
    if not isinstance(target, OpOverload):
        return target is operator.getitem
    return not schema_of(target).is_mutable and torch.Tag.nondeterministic_seeded not in target.tags


def _sources(program: ExportedProgram) -> dict[str, torch.Tensor]:
    """Return parameters, buffers and constants by the names of their placeholders."""
    signature = program.graph_signature
    stored = {**program.state_dict, **program.constants}
    targets = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    return {name: stored[target] for name, target in targets.items()}


def _values(program: ExportedProgram, calls: Collection[Node]) -> dict[str, Any]:
    """Run the calls, and what they read, on the weights."""
    needed = _ancestors(calls)
    found: dict[str, Any] = dict(_sources(program))
    with torch.no_grad():
        for node in program.graph.nodes:
            if node.op == "call_function" and node.name in needed:
                args, kwargs = torch.fx.node.map_arg(
                    (node.args, node.kwargs), lambda source: found[source.name]
                )
                found[node.name] = node.target(*args, **kwargs)
    return {node.name: found[node.name] for node in calls}


def _ancestors(calls: Collection[Node]) -> set[str]:
    found: set[str] = set()
    waiting = [*calls]
    while waiting:
        node = waiting.pop()
        if node.name not in found:
            found.add(node.name)
            waiting += node.all_input_nodes
    return found


def _is_computed(value: Any) -> bool:  # noqa: ANN401
    parts = value if isinstance(value, tuple | list) else (value,)
    return all(type(part) is torch.Tensor and not part.is_meta for part in parts)


def _results(node: Node, value: Any) -> Iterator[tuple[Node, torch.Tensor]]:  # noqa: ANN401
    """Yield the nodes that hold a tensor of the call's result, and the tensor."""
    if isinstance(value, torch.Tensor):
        yield node, value
        return
    for user in [*node.users]:
        yield user, value[user.args[1]]


def _constant(program: ExportedProgram, node: Node, value: torch.Tensor) -> Node:
    """Add the value to the program's constants; return its placeholder."""
    name = f"computed_{node.name}"
    specs = program.graph_signature.input_specs
    place = sum(spec.kind is not InputKind.USER_INPUT for spec in specs)
    with program.graph.inserting_before([*program.graph.nodes][place]):
        made: Node = program.graph.placeholder(name)
    made.meta = dict(node.meta)
    specs.insert(place, InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(made.name), name))
    program.constants[name] = value.detach().contiguous()
    return made
