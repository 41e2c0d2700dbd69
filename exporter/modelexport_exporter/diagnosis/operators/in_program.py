"""All operators of an ExportedProgram that torch.onnx has no translation for.

torch's own error names the first, and as the primitive that it was decomposed to. Here the
decomposed graph is walked, bodies of loops and branches included, and each node is named by the
operator that the model called.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

from modelexport_api.spec import Exporter
from modelexport_api.status import UnsupportedOp
from modelexport_exporter.diagnosis.operators.support import advice_for
from modelexport_exporter.diagnosis.operators.uses import OperatorUse, grouped, source_line
from modelexport_exporter.torch_internals.operators import OpOverload, schema_of
from modelexport_exporter.torch_internals.translation import decompose, translates
from modelexport_exporter.torch_internals.wrapper_names import own_path


def find_unsupported(
    program: ExportedProgram,
    opset: int,
    code_dir: Path | None = None,
    *,
    translated: Collection[object] = (),
    provided: Collection[str] = (),
    disabled: Collection[str] = (),
) -> list[UnsupportedOp]:
    """Return one entry for each operator without a translation.

    `translated`: targets that plugins translate; `provided`: operators that are rewritten unless
    that is disabled.
    """
    uses = _uses(program, opset, code_dir, translated)
    return grouped(uses, advice_for(Exporter.DYNAMO, opset, provided, disabled))


def unsupported_calls(
    program: ExportedProgram, opset: int, translated: Collection[object] = ()
) -> set[str]:
    """Return the names of the program's nodes without a translation."""
    called = _called(program)
    return {
        _origin(node, called)[0]
        for _, node in _calls(decompose(program, opset))
        if not translates(node, opset, translated)
    }


def _uses(
    program: ExportedProgram, opset: int, code_dir: Path | None, translated: Collection[object]
) -> Iterator[OperatorUse]:
    if all(translates(node, opset, translated) for _, node in _calls(program)):
        return  # what has a translation is not decomposed
    called = _called(program)
    seen: set[tuple[int, str, str]] = set()
    for position, node in _calls(decompose(program, opset)):
        if not translates(node, opset, translated):
            origin, name = _origin(node, called)
            if (position, origin, name) not in seen:
                # One call may become several nodes that all lack a translation.
                seen.add((position, origin, name))
                trace = str(node.meta.get("stack_trace") or "")
                yield OperatorUse(name, _module_path(node), source_line(trace, code_dir))


def _calls(program: ExportedProgram | torch.fx.GraphModule) -> Iterator[tuple[int, torch.fx.Node]]:
    """Yield every call with the position of its graph: loops and branches have their own."""
    outer = program if isinstance(program, torch.fx.GraphModule) else program.graph_module
    for position, part in enumerate(outer.modules()):
        if isinstance(part, torch.fx.GraphModule):
            for node in part.graph.nodes:
                if node.op == "call_function":
                    yield position, node


def _called(program: ExportedProgram) -> dict[str, str]:
    """Return the operator of each node before it is decomposed, by the node's name."""
    return {
        node.name: display_name(node.target)
        for _, node in _calls(program)
        if isinstance(node.target, OpOverload)
    }


def _origin(node: torch.fx.Node, called: dict[str, str]) -> tuple[str, str]:
    """Return the node that the model had in this one's place, and its operator."""
    sources: list[Any] = list(node.meta.get("from_node") or ())
    while sources:
        source = sources[-1]
        if source.name in called:
            return source.name, called[source.name]
        sources = list(source.from_node)
    original = node.meta.get("original_aten")
    return node.name, display_name(original if original is not None else node.target)


def display_name(target: object) -> str:
    """Return `aten::erfinv.default`."""
    if isinstance(target, OpOverload):
        schema = schema_of(target)
        return f"{schema.name}.{schema.overload_name or 'default'}"
    name = getattr(target, "__name__", None) or str(target)
    return f"higher_order::{name}"


def _module_path(node: torch.fx.Node) -> str:
    stack = node.meta.get("nn_module_stack") or {}
    paths = [str(path) for path, _ in stack.values()]
    return own_path(paths[-1]) if paths else ""
