"""The onnxscript functions that symbolic functions write into a graph.

`g.onnxscript_op` writes a node, but not the body of its function. While the block runs, the calls
are noted, so that the bodies can be put into the file in any version of their domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from modelexport_exporter.plugins.legacy.graph_arguments import as_attributes, as_inputs
from modelexport_exporter.torch_internals.symbolics import GraphContext, replace_graph_methods


@dataclass
class UsedFunctions:
    """The onnxscript functions that symbolic functions put into the graph."""

    functions: list[Any] = field(default_factory=list)

    def note(self, function: Any) -> None:  # noqa: ANN401 - an onnxscript.OnnxFunction
        """Keep each function once."""
        if not any(function is known for known in self.functions):
            self.functions.append(function)


@contextmanager
def note_used_functions() -> Iterator[UsedFunctions]:
    """Note onnxscript functions, and take older arguments of `g.op`, while the block runs."""
    strict_op: Any = GraphContext.op
    used = UsedFunctions()

    def op(self: Any, name: str, *inputs: object, outputs: int = 1, **attributes: object) -> Any:  # noqa: ANN401
        return strict_op(
            self, name, *as_inputs(inputs), outputs=outputs, **as_attributes(attributes)
        )

    def onnxscript_op(
        self: Any,  # noqa: ANN401
        function: Any,  # noqa: ANN401
        *inputs: object,
        outputs: int = 1,
        **attributes: object,
    ) -> Any:  # noqa: ANN401
        used.note(function)
        name = f"{function.opset.domain}::{function.name}"
        return op(self, name, *inputs, outputs=outputs, **attributes)

    with replace_graph_methods(op, onnxscript_op):
        yield used
