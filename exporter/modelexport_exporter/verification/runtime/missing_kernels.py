"""In which element type onnxruntime lacks a kernel, and what to do about it."""

from __future__ import annotations

import re
from pathlib import Path

import onnx
import onnx_ir as ir

_NAMED = re.compile(r"an implementation for (?P<op>\w+)\(\d+\) node with name '(?P<name>[^']*)'")
HINT = (
    "onnxruntime has no kernel for this operator in this element type, on this provider. Export "
    "the model in float32, raise export.opset, or verify on another provider."
)
_BFLOAT16_HINT = (
    "onnxruntime computes nearly nothing in bfloat16 on a CPU. Compute in float32: "
    "torch.autocast(…, enabled=False) and no .to(torch.bfloat16) in forward, and weights loaded "
    "with .float(); or verify on a GPU."
)


def explain(text: str, model_path: Path) -> tuple[str, str]:
    """Return what the message leaves out, empty if it is not known, and a hint."""
    dtypes = _dtypes(text, model_path)
    if not dtypes:
        return "", HINT
    hint = _BFLOAT16_HINT if ir.DataType.BFLOAT16 in dtypes else HINT
    names = " and ".join(sorted(dtype.name.lower() for dtype in dtypes))
    return f" (its operands are of {names})", hint


def _dtypes(text: str, model_path: Path) -> set[ir.DataType]:
    """Return the element types of the operands of the node that the message names."""
    named = _NAMED.search(text)
    if named is None or not model_path.is_file():
        return set()
    model = ir.from_proto(onnx.load(str(model_path), load_external_data=False))
    graphs = [model.graph, *(function.graph for function in model.functions.values())]
    for node in (node for graph in graphs for node in graph.all_nodes()):
        if (node.op_type, node.name) == (named["op"], named["name"]):
            return {value.dtype for value in node.inputs if value is not None and value.dtype}
    return set()
