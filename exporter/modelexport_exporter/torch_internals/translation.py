"""How torch.onnx translates an ExportedProgram: what it has functions for, node by node."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import torch
from onnxscript._internal.values import TracedOnnxFunction
from torch.export import ExportedProgram
from torch.onnx._internal.exporter import _core, _decomp, _dispatching, _fx_passes, _registration

from modelexport_exporter.torch_internals.operators import HigherOrderOperator, OpOverload

OLDEST_OPSET = 18
"""torch.export's route translates to this opset at least; onnx converts the file to older ones."""
Target = OpOverload | HigherOrderOperator
Registry = _registration.ONNXRegistry


@cache
def onnx_registry(opset: int) -> Registry:
    """Return torch.onnx's functions for torch.export's route."""
    with reading_no_sources():
        return Registry.from_torchlib(opset_version=max(opset, OLDEST_OPSET))


@contextmanager
def reading_no_sources() -> Iterator[None]:
    """Let torch.onnx make its registry without parsing its traced functions, in the block.

    onnxscript parses the sources of all 435 for their domain, which torch.onnx does not read: half
    of the time that the registry takes.
    """
    domain_only = property(lambda function: function.opset)
    with patch.object(TracedOnnxFunction, "function_ir", domain_only):
        yield


def decompose(program: ExportedProgram, opset: int) -> torch.fx.GraphModule:
    """Return the graph that torch.onnx would translate, node by node."""
    decomposed = _fx_passes.decompose_with_registry(program, onnx_registry(opset))
    return _fx_passes.remove_assertion_nodes(decomposed.graph_module)


@contextmanager
def decomposing_first_by(table: Mapping[OpOverload, Callable[..., Any]]) -> Iterator[None]:
    """Let torch.onnx decompose by a table, and where that declines as usual, in the block.

    Its decompositions lead to operators that the captured program does not have: xlog1py to log1p,
    a write through a diagonal to diagonal_scatter.
    """
    plain = _decomp.create_onnx_friendly_decomposition_table

    def create(registered: Any) -> Any:  # noqa: ANN401
        known = plain(registered)
        return known | {op: _either(own, known.get(op)) for op, own in table.items()}

    with patch.object(_decomp, "create_onnx_friendly_decomposition_table", create):
        yield


def _either(one: Callable[..., Any], other: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a function that calls the second one where the first declines."""
    if other is None:
        return one

    def decompose(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        result = one(*args, **kwargs)
        return other(*args, **kwargs) if result is NotImplemented else result

    return decompose


def decompose_keeping(
    program: ExportedProgram, opset: int, kept: Collection[object]
) -> ExportedProgram:
    """Return the decomposed program as if torch.onnx had a function for each operator of `kept`."""
    known = onnx_registry(opset)
    registry = copy.copy(known)
    registry.functions = {name: list(entries) for name, entries in known.functions.items()}
    for operator in kept:
        if isinstance(operator, OpOverload):
            registry.register_op(operator, _placeholder)
    return _fx_passes.decompose_with_registry(program, registry)


def _placeholder(*_arguments: object) -> None:
    """Be registered as a translation, so that the operator is not decomposed."""


def translates(node: torch.fx.Node, opset: int, also: Collection[object] = ()) -> bool:
    """Return whether torch.onnx translates a node; `also`: targets that plugins translate."""
    if not isinstance(node.target, Target) or type(node.target).__name__ == "WithEffects":
        return True  # arithmetic on sizes; a wrapper that orders checks
    if node.target in also or str(node.target) in {str(target) for target in also}:
        return True
    return _dispatching.dispatch(node, onnx_registry(opset))[0] is not None


def has_function(name: str, opset: int = OLDEST_OPSET) -> bool:
    """Return whether torch.export's route has a function of its own for an operator."""
    return bool(onnx_registry(opset).functions.get(name.removesuffix(".default")))


def has_complex_function(name: str, opset: int = OLDEST_OPSET) -> bool:
    """Return whether that function, or another of the operator, takes complex tensors."""
    found = onnx_registry(opset).functions.get(name.removesuffix(".default"), ())
    return any(function.is_complex for function in found)


def current_nodes() -> list[Any]:
    """Return the list that collects the ONNX nodes of the operator that is being translated."""
    tracer = _core.current_tracer
    assert tracer is not None
    nodes: list[Any] = tracer.nodes
    return nodes
