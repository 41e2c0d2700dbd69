"""The tracer of TorchScript and its graphs, below what torch.jit documents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.jit._trace import TracerWarning

__all__ = [
    "TracerWarning",
    "inline_calls",
    "inline_functions",
    "is_traced_constant",
    "lower_tuples",
    "nodes_of",
    "pause_tracing",
]


@contextmanager
def pause_tracing() -> Iterator[None]:
    """Keep the tracer from recording what the block computes."""
    state = torch._C._get_tracing_state()  # noqa: SLF001
    torch._C._set_tracing_state(None)  # type: ignore[attr-defined]  # noqa: SLF001
    try:
        yield
    finally:
        torch._C._set_tracing_state(state)  # type: ignore[attr-defined]  # noqa: SLF001


def is_traced_constant(tensor: torch.Tensor) -> bool:
    """Return whether the running trace has the tensor as a constant."""
    value = torch._C._get_value_trace(tensor)  # type: ignore[attr-defined]  # noqa: SLF001
    return bool(value.node().kind() == "prim::Constant")


def nodes_of(block: Any) -> Iterator[Any]:  # noqa: ANN401 - a graph or a block, untyped
    """Yield the nodes of a TorchScript graph, those of loops and branches after their own."""
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from nodes_of(inner)


def inline_calls(graph: torch.Graph) -> None:
    """Put the graphs of methods and functions that a TorchScript graph calls in their places."""
    torch._C._jit_pass_inline(graph)  # noqa: SLF001


def lower_tuples(graph: torch.Graph) -> None:
    """Let a TorchScript graph return the parts of the tuples that it returns."""
    torch._C._jit_pass_lower_all_tuples(graph)  # noqa: SLF001


def inline_functions(graph: torch.Graph) -> torch.Graph:
    """Return a copy of a TorchScript graph with calls and autograd functions inlined."""
    copied: torch.Graph = graph.copy()
    inline_calls(copied)
    torch._C._jit_pass_onnx_autograd_function_process(copied)  # noqa: SLF001
    return copied
