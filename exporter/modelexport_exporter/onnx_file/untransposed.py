"""Weights that the optimizer has transposed, as the checkpoint has them again.

`nn.Linear` multiplies with its transposed weight. Optimizers transpose it once and for all, and the
result is nowhere in the checkpoint. Gemm transposes by itself, in onnxruntime without a copy: with
a Transpose in the graph, onnxruntime would hold all weights once more in memory (measured with
1.31: 263 of 268 MB, against 1 MB).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx_ir as ir

from modelexport_exporter.onnx_file.stored_tensors import StoredTensors

_MATRIX = 2
_OPSET = 15
"""Has Shape with an end, and Reshape with allowzero."""
_SWAPPED = [1, 0]
_OF_GEMM = {
    ir.DataType.FLOAT,
    ir.DataType.DOUBLE,
    ir.DataType.FLOAT16,
    ir.DataType.BFLOAT16,
}


def use_stored_weights(
    model: ir.Model, stored: StoredTensors, names: Mapping[int, str], smallest: int
) -> None:
    """Put untransposed weights in place of transposed ones that the checkpoint has.

    `names`: the module's names of weights, by the address of their memory. `smallest`: bytes above
    which a weight is worth it.
    """
    opset = model.graph.opset_imports.get("", 0)
    for graph in [*model.graphs()]:
        taken = _names_of_values(graph)
        for value in [*graph.initializers.values()]:
            tensor = _untransposed(value, smallest)
            if tensor is not None and stored.find(tensor) is not None:
                raw = tensor.raw
                address = raw.__array_interface__["data"][0] if isinstance(raw, np.ndarray) else 0
                name = names.get(address, "")
                free = name and name not in taken and name not in graph.initializers
                _restore(graph, value, tensor, name if free else f"{value.name}_stored")
        if opset >= _OPSET:
            for node in [*graph]:
                _as_gemm(graph, node, stored)


def _untransposed(value: ir.Value, smallest: int) -> ir.Tensor[Any] | None:
    """Return the matrix of which an initializer is the transposed view, if it is one."""
    tensor = value.const_value
    if tensor is None or len(tensor.shape) != _MATRIX or tensor.nbytes <= smallest:
        return None
    if tensor.dtype is ir.DataType.STRING or tensor.dtype.itemsize < 1 or value.is_graph_output():
        return None
    array = tensor.numpy()
    if array.flags.c_contiguous or not array.T.flags.c_contiguous:
        return None
    return ir.Tensor(array.T, dtype=tensor.dtype)


def _restore(graph: ir.Graph, value: ir.Value, tensor: ir.Tensor[Any], name: str) -> None:
    """Make a transposed initializer the Transpose of the checkpoint's weight."""
    assert value.name is not None
    tensor.name = name
    weight = ir.Value(
        name=name, shape=ir.Shape(tensor.shape.numpy()), type=value.type, const_value=tensor
    )
    node = ir.node("Transpose", [weight], {"perm": _SWAPPED})
    transposed = node.outputs[0]
    transposed.shape, transposed.type = value.shape, value.type
    ir.convenience.replace_all_uses_with(value, transposed)
    del graph.initializers[value.name]
    transposed.name = value.name
    graph.register_initializer(weight)
    graph.insert_before(graph[0], node)


def _names_of_values(graph: ir.Graph) -> set[str]:
    made = {str(value.name) for node in graph.all_nodes() for value in node.outputs}
    return made | {str(value.name) for value in graph.inputs}


def _as_gemm(graph: ir.Graph, node: ir.Node, stored: StoredTensors) -> None:
    """Write a product with a transposed weight as a Gemm of rows, if it is one."""
    if node.op_type != "MatMul" or node.domain:
        return
    rows, transposed = node.inputs
    weight = _weight_of(transposed)
    if rows is None or weight is None or rows.shape is None or rows.shape.rank() < _MATRIX:
        return
    if weight.const_value is None or stored.find(weight.const_value) is None:
        return
    product = node.outputs[0]
    made = _product_of_rows(rows, weight, str(product.name))
    for new in made:
        new.metadata_props.update(node.metadata_props)
    result = made[-1].outputs[0]
    result.shape, result.type = product.shape, product.type
    graph.insert_after(node, made)
    ir.convenience.replace_all_uses_with(product, result, replace_graph_outputs=True)
    result.name, product.name = product.name, None
    graph.remove(node, safe=True)
    _remove_unused(transposed)


def _weight_of(transposed: ir.Value | None) -> ir.Value | None:
    """Return the initializer whose Transpose a value is, if it is one of a matrix for Gemm."""
    node = transposed.producer() if transposed is not None else None
    if node is None or node.op_type != "Transpose" or node.domain:
        return None
    weight = node.inputs[0]
    if weight is None or not weight.is_initializer() or weight.const_value is None:
        return None
    if len(weight.const_value.shape) != _MATRIX or weight.const_value.dtype not in _OF_GEMM:
        return None
    perm = node.attributes.get("perm")
    return weight if perm is None or list(perm.as_ints()) == _SWAPPED else None


def _product_of_rows(rows: ir.Value, weight: ir.Value, name: str) -> list[ir.Node]:
    """Return the nodes that multiply the rows of a tensor with a transposed weight."""
    assert rows.shape is not None
    assert weight.const_value is not None
    if rows.shape.rank() == _MATRIX:
        return [ir.node("Gemm", [rows, weight], {"transB": 1})]
    columns, count = (int(size) for size in reversed(weight.const_value.shape.numpy()))
    to_rows = ir.node("Constant", [], {"value": _numbers([-1, columns])})
    width = ir.node("Constant", [], {"value": _numbers([count])})
    leading = ir.node("Shape", [rows], {"start": 0, "end": -1})
    shape = ir.node("Concat", [leading.outputs[0], width.outputs[0]], {"axis": 0})
    flat = ir.node("Reshape", [rows, to_rows.outputs[0]])
    gemm = ir.node("Gemm", [flat.outputs[0], weight], {"transB": 1})
    back = ir.node("Reshape", [gemm.outputs[0], shape.outputs[0]], {"allowzero": 1})
    made = [to_rows, width, leading, shape, flat, gemm, back]
    for place, node in enumerate(made[:-1]):
        node.outputs[0].name = f"{name}_rows_{place}"
    return made


def _numbers(values: list[int]) -> ir.Tensor[Any]:
    return ir.Tensor(np.array(values, np.int64))


def _remove_unused(value: ir.Value | None) -> None:
    maker = value.producer() if value is not None else None
    if value is None or maker is None or maker.graph is None:
        return
    if not value.uses() and not value.is_graph_output():
        maker.graph.remove(maker, safe=True)
