"""All operators of a TorchScript graph that have no symbolic function.

torch.onnx.utils.unconvertible_ops looks at the outermost block only; here the bodies of loops,
branches and autograd functions are walked too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from modelexport_api.spec import Exporter
from modelexport_api.status import UnsupportedOp
from modelexport_exporter.diagnosis.operators.support import advice_for
from modelexport_exporter.diagnosis.operators.uses import OperatorUse, grouped, source_line
from modelexport_exporter.diagnosis.tracing import PREFIX, graph_of
from modelexport_exporter.torch_internals.symbolics import PYTHON_OP, is_registered
from modelexport_exporter.torch_internals.torchscript_graph import inline_functions

_SCHEMA_NAME = re.compile(r"^([\w:]+)(?:\.(\w+))?\(")
_SCOPE = re.compile(r"__module\.([\w.]+)$|::([\w.]+)$")
_SCRIPTED = re.compile(r'^\s*File "')
ADAPTED = "adapted_model"
"""The name of the model inside the module that takes a call's leaves."""
_LANGUAGE = ("prim::", "onnx::")
"""Parts of the language and of ONNX itself, which are no operators."""


def find_unsupported_in_script(
    graph: torch.Graph,
    opset: int,
    code_dir: Path | None = None,
    *,
    module: torch.nn.Module | None = None,
    provided: frozenset[str] = frozenset(),
    disabled: Collection[str] = (),
) -> list[UnsupportedOp]:
    """Return one entry for each operator without a symbolic function.

    `module`: the scripted module that the graph is of, to name the part that uses an operator.
    """
    parts = _parts(module, code_dir) if isinstance(module, torch.jit.ScriptModule) else {}
    uses = (
        _use(node, code_dir, parts)
        for node in _nodes(inline_functions(graph))
        if not _has_symbolic(node, opset)
    )
    return grouped(uses, advice_for(Exporter.TORCH_SCRIPT, opset, provided, disabled))


def _nodes(block: Any) -> Iterator[Any]:  # noqa: ANN401 - torch's graphs are untyped
    for node in block.nodes():
        if node.kind() == PYTHON_OP and _exports_itself(node):
            continue
        blocks = list(node.blocks())
        if node.kind() != PYTHON_OP or not blocks:
            yield node
        for inner in blocks:
            yield from _nodes(inner)


def _exports_itself(node: Any) -> bool:  # noqa: ANN401
    """Return whether an autograd.Function has a symbolic method."""
    return hasattr(getattr(node.pyobj(), "__self__", None), "symbolic")


def _has_symbolic(node: Any, opset: int) -> bool:  # noqa: ANN401
    kind = node.kind()
    if kind == PYTHON_OP:
        return is_registered(kind, opset)
    # Writes and in-place forms are made functional first; `__and__` goes by the name of `__and_`.
    if kind == "aten::copy_" or kind.startswith(_LANGUAGE):
        return True
    if is_registered(kind.removesuffix("_"), opset):
        return True
    # What computes no tensor (text, list bookkeeping, raised errors) is gone before conversion.
    return kind.startswith("aten::") and not any(
        "Tensor" in str(output.type()) for output in node.outputs()
    )


def _use(node: Any, code_dir: Path | None, parts: Mapping[tuple[str, str], str]) -> OperatorUse:  # noqa: ANN401
    line = _line(node, code_dir)
    scope = _SCOPE.search(node.scopeName())
    path = (scope.group(1) or scope.group(2)) if scope else parts.get((node.kind(), line), "")
    return OperatorUse(_name(node), _own_path(path), line)


def _own_path(path: str) -> str:
    """Return a module's path without the modules that we put around the user's."""
    for prefix in (PREFIX, ADAPTED):
        if path == prefix or path.startswith(f"{prefix}."):
            path = path.removeprefix(prefix).removeprefix(".")
    return path


def _name(node: Any) -> str:  # noqa: ANN401
    if node.kind() == PYTHON_OP:
        return f"{PYTHON_OP}.{node.pyname()}"
    schema = _SCHEMA_NAME.match(node.schema())
    if schema is None:
        return str(node.kind())
    return f"{schema.group(1)}.{schema.group(2) or 'default'}"


def _line(node: Any, code_dir: Path | None) -> str:  # noqa: ANN401
    trace = node.sourceRange()
    innermost_first = _SCRIPTED.match(trace) is None
    return source_line(trace, code_dir, innermost_first=innermost_first)


def _parts(module: torch.jit.ScriptModule, code_dir: Path | None) -> dict[tuple[str, str], str]:
    """Return which submodule has an operator at a line, before everything is inlined."""
    found: dict[tuple[str, str], str] = {}
    for path, part in module.named_modules():
        graph = getattr(getattr(part, "forward", None), "graph", None)
        for node in _nodes(graph) if graph is not None else ():
            found.setdefault((node.kind(), _line(node, code_dir)), path)
    return found


def unsupported_in_model(
    module: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    opset: int,
    code_dir: Path | None = None,
    *,
    disabled: Collection[str] = (),
) -> list[UnsupportedOp]:
    """Return the same for a module that is traced at these arguments; a script is not run."""
    graph = graph_of(module, args, kwargs)
    return find_unsupported_in_script(graph, opset, code_dir, module=module, disabled=disabled)
