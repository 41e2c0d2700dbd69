"""TopK returns its values in order: without it, neither onnxruntime nor torch has an order."""

from __future__ import annotations

import onnx_ir as ir


def sort_values(node: ir.Node) -> None:
    """Let TopK sort its values, and put the first of equal values first, as ONNX specifies."""
    if node.op_type == "TopK" and not node.domain and not node.attributes.get_int("sorted", 1):
        node.attributes["sorted"] = ir.AttrInt64("sorted", 1)
