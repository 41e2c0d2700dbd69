"""Give each constant that a rule of onnxscript's optimizer writes a name of its own.

A rule names the bounds of the Clip that it writes after the input: of two that clip the same value,
the second constant takes the place of the first, which no graph has any more. A weight into which a
layer is folded keeps its name, unless another node has it, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import onnx_ir as ir
from onnxscript.rewriter import RewriterContext


@contextmanager
def constants_have_own_names(model: ir.Model) -> Iterator[None]:
    """Let the rules that run in the block add no constant by a name that the model has."""
    weights = {name: own for graph in model.graphs() for name, own in graph.initializers.items()}
    used = {name for name, own in weights.items() if len(own.uses()) > 1}
    add = RewriterContext.initializer

    def initializer(self: Any, tensor: ir.TensorProtocol, name: str | None = None) -> ir.Value:  # noqa: ANN401
        wanted = free = name or tensor.name or "constant"
        while free in used:
            free = f"{wanted}_{len(used)}"
        used.add(free)
        return add(self, tensor, free)

    RewriterContext.initializer = initializer  # type: ignore[method-assign]
    try:
        yield
    finally:
        RewriterContext.initializer = add  # type: ignore[method-assign]
