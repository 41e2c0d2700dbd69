"""Number inputs, in the dtype that the spec declares.

TorchScript's float is a double, and so is the input that its exporter makes of one. A caller feeds
the declared dtype, whichever route was taken: the graph widens it.
"""

from __future__ import annotations

from collections.abc import Collection

import onnx_ir as ir


def with_single_precision(model: ir.Model, names: Collection[str]) -> ir.Model:
    """Return the model whose inputs of these names are float32, where they are float64."""
    graph = model.graph
    for position, entered in enumerate(graph.inputs):
        if entered.name not in names or entered.dtype is not ir.DataType.DOUBLE:
            continue
        declared = ir.Value(
            name=entered.name, type=ir.TensorType(ir.DataType.FLOAT), shape=entered.shape
        )
        cast = ir.node(
            "Cast", [declared], {"to": ir.DataType.DOUBLE}, name=f"{entered.name}_widened"
        )
        widened = cast.outputs[0]
        widened.name, widened.type = f"{entered.name}_as_double", entered.type
        widened.shape = entered.shape
        graph.inputs[position] = declared
        ir.convenience.replace_all_uses_with(entered, widened)
        graph.insert_before(graph[0], cast) if len(graph) else graph.append(cast)
    return model
