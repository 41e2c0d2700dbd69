"""Recurrent layers and pools of signals return NaN where torch does."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir
import pytest
import torch

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import (
    Array,
    append_is_nan,
    graph_of,
    operators,
    rewritten,
    run,
)
from unit.exporter.convert.exact_kernels.recurrent_layers import (
    BATCH,
    GATES,
    HIDDEN,
    STEPS,
    flat,
    inputs,
    layer,
    outputs,
    recurrent_graph,
)

OPSETS = [13, 15, 18, 20]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("operator", sorted(GATES))
def test_all_that_follows_a_step_with_nan_is_nan(operator: str, both: bool, opset: int) -> None:
    of = layer(operator, both=both)
    x = inputs(broken=[(2, 0), (5, 1), (0, 2)])
    with torch.no_grad():
        want = flat(of(torch.from_numpy(x)))
    got = outputs(recurrent_graph(operator, of, opset, ["x"]), {"x": x})
    assert 0 < np.isnan(want[0]).sum() < want[0].size
    as_onnx = got[0].transpose(0, 2, 1, 3).reshape(STEPS, BATCH, -1)
    for one, other in zip([as_onnx, *got[1:]], want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("operator", sorted(GATES))
def test_a_state_of_nan_reaches_all(operator: str) -> None:
    of = layer(operator, both=True)
    x = inputs(broken=[])
    h: Array = np.zeros((2, BATCH, HIDDEN), np.float32)
    h[0, 1], h[1, 3] = math.nan, math.nan
    feed = {"x": x, "h": h} | ({"c": np.zeros_like(h)} if operator == "LSTM" else {})
    state = tuple(torch.from_numpy(feed[name]) for name in ("h", "c") if name in feed)
    with torch.no_grad():
        want = flat(of(torch.from_numpy(x), state if len(state) > 1 else state[0]))
    got = outputs(recurrent_graph(operator, of, 18, list(feed)), feed)
    np.testing.assert_array_equal(
        np.isnan(got[0].transpose(0, 2, 1, 3).reshape(STEPS, BATCH, -1)), np.isnan(want[0])
    )
    np.testing.assert_array_equal(np.isnan(got[1]), np.isnan(want[1]))


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("operator", sorted(GATES))
def test_nan_in_padding_reaches_nothing(operator: str, both: bool) -> None:
    of = layer(operator, both=both)
    lengths: Array = np.array([6, 4, 2, 3], np.int32)
    x = inputs(broken=[(4, 1), (1, 2), (5, 3), (3, 0)])
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        torch.from_numpy(x), torch.from_numpy(lengths).long(), enforce_sorted=False
    )
    with torch.no_grad():
        sequence, state = of(packed)
    padded = torch.nn.utils.rnn.pad_packed_sequence(sequence, total_length=STEPS)[0].numpy()
    got = outputs(recurrent_graph(operator, of, 18, ["x", "lengths"]), {"x": x, "lengths": lengths})
    as_onnx = got[0].transpose(0, 2, 1, 3).reshape(STEPS, BATCH, -1)
    np.testing.assert_allclose(as_onnx, padded, rtol=1e-4, atol=1e-6)
    for one, other in zip(got[1:], flat(state), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_pools_of_signals(opset: int, dtype: type) -> None:
    x: Array = np.random.default_rng(2).normal(size=(2, 3, 17)).astype(dtype)
    x[0, 1, 4], x[1, 2, 16], x[1, 0, 0] = math.nan, math.nan, -math.inf
    model = graph_of("MaxPool", [x], {}, opset, kernel_shape=[3], strides=[2], pads=[1, 1])
    want = torch.nn.functional.max_pool1d(torch.from_numpy(x), 3, 2, 1).numpy()
    np.testing.assert_array_equal(rewritten(model, [x]), want, strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_windows_of_negative_infinity_and_padding(dtype: type) -> None:
    x: Array = np.array([[[-np.inf, -np.inf, -np.inf, 2.0, np.nan, -np.inf]]], dtype)
    model = graph_of("MaxPool", [x], {}, 18, kernel_shape=[2], strides=[1], pads=[1, 1])
    want = torch.nn.functional.max_pool1d(torch.from_numpy(x), 2, 1, 1).numpy()
    np.testing.assert_array_equal(rewritten(model, [x]), want)


@pytest.mark.parametrize("masked", [False, True])
def test_padded_pools_of_what_the_model_masks(masked: bool) -> None:
    x: Array = np.array([[[-1.0, -2.0, -3.0, 2.0, -1.0, -4.0]]], np.float32)
    model = graph_of("MaxPool", [x], {}, 18, kernel_shape=[2], strides=[1], pads=[1, 1])
    if masked:
        number = ir.node("Constant", [], {"value": ir.tensor(np.array(-np.inf, np.float32))})
        model.graph.insert_before(model.graph[0], number)
    avoid_inexact_kernels(model, Declared({}, (), takes_nan=False))
    assert ("Where" in operators(model)) is masked
    given = np.where(x < 0, -np.inf, x).astype(np.float32) if masked else x
    want = torch.nn.functional.max_pool1d(torch.from_numpy(given), 2, 1, 1).numpy()
    np.testing.assert_array_equal(run(model, [given]), want)


def test_windows_of_one_row() -> None:
    x: Array = np.arange(24, dtype=np.float32).reshape(1, 1, 3, 8)
    x[0, 0, 1, 2] = math.nan
    model = graph_of("MaxPool", [x], {}, 18, kernel_shape=[1, 2], strides=[1, 2])
    want = torch.nn.functional.max_pool2d(torch.from_numpy(x), (1, 2)).numpy()
    np.testing.assert_array_equal(rewritten(model, [x]), want, strict=True)


def test_pools_of_whole_images() -> None:
    x: Array = np.arange(48, dtype=np.float32).reshape(2, 2, 3, 4)
    x[0, 1, 1, 2] = math.nan
    want = torch.nn.functional.adaptive_max_pool2d(torch.from_numpy(x), 1).numpy()
    model = graph_of("GlobalMaxPool", [x], {}, 18)
    np.testing.assert_array_equal(rewritten(model, [x]), want, strict=True)


@pytest.mark.parametrize("takes_nan", [False, True])
def test_pools_of_images_and_layers_without_nan_stay(takes_nan: bool) -> None:
    image: Array = np.zeros((1, 2, 8, 8), np.float32)
    size = [2, 2] if takes_nan else [2]
    model = graph_of("MaxPool", [image if takes_nan else image[0]], {}, 18, kernel_shape=size)
    avoid_inexact_kernels(model, Declared({}, (), takes_nan))
    assert operators(model) == ["MaxPool"]


def test_pools_of_images_in_a_model_that_looks_for_nan() -> None:
    x: Array = np.arange(96, dtype=np.float32).reshape(1, 2, 6, 8)
    x[0, 1, 2, 3] = math.nan
    model = graph_of("MaxPool", [x], {}, 18, kernel_shape=[2, 2], strides=[2, 2])
    model.graph.outputs[:] = [append_is_nan(model, model.graph[0].outputs[0])]
    want = torch.nn.functional.max_pool2d(torch.from_numpy(x), 2).isnan().numpy()
    assert want.sum() == 1
    np.testing.assert_array_equal(rewritten(model, [x]), want, strict=True)
