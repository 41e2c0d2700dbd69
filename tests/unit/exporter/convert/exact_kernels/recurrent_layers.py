"""Recurrent layers of torch, as nodes of ONNX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import torch
from onnx import helper

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import Array, operators

STEPS, BATCH, FEATURES, HIDDEN = 6, 4, 3, 5
GATES = {"LSTM": [0, 3, 1, 2], "GRU": [1, 0, 2], "RNN": [0]}
"""Where ONNX has the gates of torch."""


def layer(operator: str, *, both: bool) -> torch.nn.RNNBase:
    torch.manual_seed(3)
    made: torch.nn.RNNBase = getattr(torch.nn, operator)(FEATURES, HIDDEN, bidirectional=both)
    return made.eval()


def weights(of: torch.nn.RNNBase, operator: str) -> list[Array]:
    """Return W, R and B as ONNX has them."""

    def stacked(name: str) -> Array:
        found = []
        for way in ("", "_reverse") if of.bidirectional else ("",):
            gates = getattr(of, f"{name}_l0{way}").detach().chunk(len(GATES[operator]))
            found.append(torch.cat([gates[place] for place in GATES[operator]]).numpy())
        return np.stack(found)

    biases = np.concatenate([stacked("bias_ih"), stacked("bias_hh")], axis=1)
    return [stacked("weight_ih"), stacked("weight_hh"), biases]


def recurrent_graph(
    operator: str, of: torch.nn.RNNBase, opset: int, given: Sequence[str]
) -> ir.Model:
    """Return the layer as a model with the inputs x, lengths, h and c, if given."""
    kinds = {"x": 1, "lengths": 6, "h": 1, "c": 1}
    names = [name if name in given else "" for name in ("lengths", "h", "c")]
    attributes: dict[str, Any] = {"hidden_size": HIDDEN}
    attributes |= {"direction": "bidirectional" if of.bidirectional else "forward"}
    attributes |= {"linear_before_reset": 1} if operator == "GRU" else {}
    places = 3 if operator == "LSTM" else 2
    outputs = ["y", "y_h", "y_c"][:places]
    inputs = ["x", "w", "r", "b", *names[:places]]
    node = helper.make_node(operator, inputs, outputs, **attributes)
    shapes: dict[str, list[int | None]] = {"x": [None, None, FEATURES], "lengths": [None]}
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info(n, kinds[n], shapes.get(n, [None] * 3)) for n in given],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs],
        [
            onnx.numpy_helper.from_array(x, n)
            for x, n in zip(weights(of, operator), "wrb", strict=True)
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return ir.serde.deserialize_model(onnx.shape_inference.infer_shapes(model))


def outputs(model: ir.Model, feed: dict[str, Array]) -> list[Array]:
    before = operators(model)
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) != before
    file = ir.serde.serialize_model(model)
    onnx.checker.check_model(file, full_check=True)
    session = onnxruntime.InferenceSession(
        file.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, feed))


def flat(*found: object) -> list[Array]:
    """Return tensors in any nesting of tuples as arrays."""
    arrays: list[Array] = []
    for entry in found:
        arrays += flat(*entry) if isinstance(entry, tuple) else [np.asarray(entry)]
    return arrays


def inputs(*, broken: Sequence[tuple[int, int]]) -> Array:
    """Return x of [steps, batch, features] with a NaN at some steps of some rows."""
    x: Array = np.random.default_rng(1).normal(size=(STEPS, BATCH, FEATURES)).astype(np.float32)
    for step, row in broken:
        x[step, row, 1] = math.nan
    return x
