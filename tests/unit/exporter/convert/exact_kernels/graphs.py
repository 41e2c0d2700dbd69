"""Graphs of one operator, rewritten and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
from onnx import helper

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels

Array = np.ndarray[Any, Any]


def graph_of(
    operator: str,
    inputs: Sequence[Array],
    constants: Mapping[int, Array] | None = None,
    opset: int = 20,
    **attributes: Any,  # noqa: ANN401
) -> ir.Model:
    """Return the operator as a model; inputs are x0, x1, …, open in all dims.

    A place before a constant for which no input is left is omitted.
    """
    fixed = dict(constants or {})
    names: list[str] = []
    given: list[onnx.ValueInfoProto] = []
    for place in range(max(len(inputs) + len(fixed), *(place + 1 for place in fixed), 0)):
        omitted = place not in fixed and len(given) == len(inputs)
        names.append("" if omitted else f"c{place}" if place in fixed else f"x{len(given)}")
        if place not in fixed and not omitted:
            x = inputs[len(given)]
            kind = helper.np_dtype_to_tensor_dtype(x.dtype)
            given.append(helper.make_tensor_value_info(names[-1], kind, [None] * x.ndim))
    node = helper.make_node(operator, names, ["y"], **attributes)
    initializers = [onnx.numpy_helper.from_array(x, f"c{place}") for place, x in fixed.items()]
    result = helper.make_empty_tensor_value_info("y")
    graph = helper.make_graph([node], "one", given, [result], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return ir.serde.deserialize_model(onnx.shape_inference.infer_shapes(model))


def append_is_nan(model: ir.Model, value: ir.Value) -> ir.Value:
    """Append IsNaN of a value; return its result."""
    test = ir.node("IsNaN", [value])
    model.graph.append(test)
    test.outputs[0].name = "test"
    test.outputs[0].dtype, test.outputs[0].shape = ir.DataType.BOOL, value.shape
    return test.outputs[0]


def operators(model: ir.Model) -> list[str]:
    """Return the operators of a graph, without its constants."""
    return [node.op_type for node in model.graph if node.op_type != "Constant"]


def run(model: ir.Model, inputs: Sequence[Array]) -> Array:
    """Return what onnxruntime computes, after the file was checked."""
    file = ir.serde.serialize_model(model)
    onnx.checker.check_model(file, full_check=True)
    session = onnxruntime.InferenceSession(
        file.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    result: Array = session.run(None, {f"x{place}": x for place, x in enumerate(inputs)})[0]
    return result


def rewritten(
    model: ir.Model, inputs: Sequence[Array], ranges: Mapping[str, float] | None = None
) -> Array:
    """Return what the rewritten graph computes; fails if it is not rewritten."""
    before = operators(model)
    avoid_inexact_kernels(model, Declared(ranges or {}, ()))
    assert operators(model) != before, "the graph was left as it is"
    return run(model, inputs)
