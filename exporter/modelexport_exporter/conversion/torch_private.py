"""The private parts of torch that capture and conversion need, in one place, pinned by tests.

`test_torch_private.py` fails when a new torch moves any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.export._patches import (
    register_gru_while_loop_decomposition,
    register_lstm_while_loop_decomposition,
)
from torch.fx.experimental import _config as symbolic_shapes_config
from torch.onnx._internal.exporter import _dispatching, _flags, _fx_passes, _registration


@contextmanager
def capturing_for_onnx(*, dynamic: bool) -> Iterator[None]:
    """Set what torch.onnx sets around its own capture.

    `torch.onnx.is_in_onnx_export()` is true, sizes 0 and 1 are no special cases, and recurrent
    layers become loops instead of being unrolled at the length of the example.
    """
    before = _flags._is_onnx_exporting  # noqa: SLF001
    _flags._is_onnx_exporting = True  # noqa: SLF001
    try:
        with ExitStack() as stack:
            stack.enter_context(symbolic_shapes_config.patch(backed_size_oblivious=True))  # type: ignore[attr-defined]
            if dynamic:
                stack.enter_context(register_lstm_while_loop_decomposition())
                stack.enter_context(register_gru_while_loop_decomposition())
            yield
    finally:
        _flags._is_onnx_exporting = before  # noqa: SLF001


@dataclass(frozen=True)
class UnsupportedOperator:
    """An operator without a translation, and where the model uses it first."""

    name: str
    module: str
    """Path of the nn.Module, `encoder.layer.0`; empty for the model itself."""
    stack_trace: str


def unsupported_operators(program: ExportedProgram, opset: int) -> list[UnsupportedOperator]:
    """Return every operator that torch.onnx has no translation for, in loops and branches too."""
    registry = _registration.ONNXRegistry().from_torchlib(opset_version=max(opset, 18))
    decomposed = _fx_passes.decompose_with_registry(program, registry)
    found: dict[str, UnsupportedOperator] = {}
    graphs = _fx_passes.remove_assertion_nodes(decomposed.graph_module)
    for graph_module in graphs.modules():
        assert isinstance(graph_module, torch.fx.GraphModule)
        for node in graph_module.graph.nodes:
            if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):  # noqa: SLF001
                continue
            name = str(node.meta.get("original_aten") or node.target)
            if name not in found and _dispatching.dispatch(node, registry)[0] is None:
                found[name] = UnsupportedOperator(name, _module_path(node), _stack_trace(node))
    return list(found.values())


def _module_path(node: torch.fx.Node) -> str:
    stack = node.meta.get("nn_module_stack") or {}
    paths = [str(path) for path, _ in stack.values()]
    return paths[-1] if paths else ""


def _stack_trace(node: torch.fx.Node) -> str:
    return str(node.meta.get("stack_trace") or "")


def size_expression(size: object) -> str:
    """Return a symbolic size as torch writes it, `s77` or `2*s77`; a number for a constant."""
    return str(size.node.expr) if isinstance(size, torch.SymInt) else str(size)
