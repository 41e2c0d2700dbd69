"""Recurrent layers return NaN where a step adds infinities of both signs, as torch does."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir
import pytest
import torch

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import Array, append_is_nan, operators
from unit.exporter.convert.exact_kernels.recurrent_layers import (
    BATCH,
    FEATURES,
    GATES,
    HIDDEN,
    STEPS,
    flat,
    inputs,
    layer,
    outputs,
    recurrent_graph,
)

INF = math.inf
LENGTHS: Array = np.array([6, 4, 2, 3], np.int32)


def looking_for_nan(model: ir.Model) -> ir.Model:
    """Return the model with IsNaN of its input as a further output."""
    model.graph.outputs.append(append_is_nan(model, model.graph.inputs[0]))
    return model


def with_infinities() -> Array:
    """Return x with rows that are infinite once, twice, at their first and at their last step."""
    x = inputs(broken=[(2, 3)])
    x[5, 0, :2] = INF, -INF
    x[2, 1, :2] = INF, INF
    x[0, 2, 0] = INF
    x[1, 2, 1:] = -INF, INF
    return x


def equal(got: list[Array], sequence: Array, states: list[Array]) -> None:
    as_onnx = got[0].transpose(0, 2, 1, 3).reshape(STEPS, BATCH, -1)
    for one, other in zip([as_onnx, *got[1:-1]], [sequence, *states], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("operator", sorted(GATES))
def test_units_are_nan_as_in_torch(operator: str, both: bool, opset: int) -> None:
    of, x = layer(operator, both=both), with_infinities()
    with torch.no_grad():
        sequence, *states = flat(of(torch.from_numpy(x)))
    model = looking_for_nan(recurrent_graph(operator, of, opset, ["x"]))
    equal(outputs(model, {"x": x}), sequence, states)


@pytest.mark.parametrize("operator", sorted(GATES))
def test_one_unit_is_nan_at_the_last_step(operator: str) -> None:
    """Of an LSTM in its output gate only, so that its cell state is a number."""
    of, x = layer(operator, both=False), inputs(broken=[])
    weights = of.get_parameter("weight_ih_l0")
    weights.data.abs_()
    weights.data[-HIDDEN, 0] *= -1
    x[5, 0, :2] = INF
    with torch.no_grad():
        sequence, *states = flat(of(torch.from_numpy(x)))
    assert np.isnan(sequence[5, 0]).sum() == 1
    assert [int(np.isnan(state).sum()) for state in states] == [1, 0][: len(states)]
    model = looking_for_nan(recurrent_graph(operator, of, 18, ["x"]))
    equal(outputs(model, {"x": x}), sequence, states)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("operator", sorted(GATES))
def test_rows_of_different_lengths(operator: str, both: bool) -> None:
    of, x = layer(operator, both=both), with_infinities()
    x[3, 1, :2], x[1, 2, :2], x[4, 3, :2] = [INF, -INF], [-INF, INF], [INF, -INF]
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        torch.from_numpy(x), torch.from_numpy(LENGTHS).long(), enforce_sorted=False
    )
    with torch.no_grad():
        packed_sequence, states = of(packed)
    sequence = torch.nn.utils.rnn.pad_packed_sequence(packed_sequence, total_length=STEPS)[0]
    model = looking_for_nan(recurrent_graph(operator, of, 18, ["x", "lengths"]))
    equal(outputs(model, {"x": x, "lengths": LENGTHS}), sequence.numpy(), flat(states))


@pytest.mark.parametrize("operator", sorted(GATES))
def test_a_state_of_nan_reaches_all(operator: str) -> None:
    of, x = layer(operator, both=True), with_infinities()
    h: Array = np.zeros((2, BATCH, HIDDEN), np.float32)
    h[0, 1] = math.nan
    feed = {"x": x, "h": h} | ({"c": np.zeros_like(h)} if operator == "LSTM" else {})
    state = tuple(torch.from_numpy(feed[name]) for name in ("h", "c") if name in feed)
    with torch.no_grad():
        sequence, *states = flat(of(torch.from_numpy(x), state if len(state) > 1 else state[0]))
    model = looking_for_nan(recurrent_graph(operator, of, 18, list(feed)))
    equal(outputs(model, feed), sequence, states)


def test_a_model_that_does_not_look_for_nan_multiplies_once() -> None:
    model = recurrent_graph("GRU", layer("GRU", both=False), 18, ["x"])
    avoid_inexact_kernels(model, Declared({}, ()))
    assert "MatMul" not in operators(model)
    assert model.graph.inputs[0].shape is not None
    assert model.graph.inputs[0].shape[-1] == FEATURES
