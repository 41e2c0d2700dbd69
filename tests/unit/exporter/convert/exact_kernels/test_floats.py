"""Logarithms of sums and of sigmoids, in the far range where onnxruntime's kernels lose them."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir
import pytest
import torch

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import Array, graph_of, operators, rewritten, run

INF, NAN = math.inf, math.nan
ROWS = np.array(
    [
        [-INF, -200.0, -300.0],
        [-INF, -INF, -INF],
        [INF, 1.0, -INF],
        [-INF, 90.0, 80.0],
        [NAN, 1.0, 2.0],
        [-INF, NAN, 0.0],
        [1.0, 2.0, -3.0],
        [-1e4, -1e4, -INF],
    ]
)


def close(found: Array, want: torch.Tensor) -> None:
    np.testing.assert_allclose(found, want.numpy(), rtol=3e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_log_sum_exp_with_a_leading_infinity(dtype: type, keep: int, opset: int) -> None:
    x: Array = ROWS.astype(dtype)
    axes = {} if opset >= 18 else {"axes": [1]}
    constants = {1: np.array([1])} if opset >= 18 else {}
    model = graph_of("ReduceLogSumExp", [x], constants, opset, keepdims=keep, **axes)
    close(rewritten(model, [x]), torch.from_numpy(x).logsumexp(1, bool(keep)))


def test_log_sum_exp_of_all() -> None:
    x = np.array([[-INF, -200.0], [-250.0, -INF]], np.float32)
    model = graph_of("ReduceLogSumExp", [x], keepdims=0)
    close(rewritten(model, [x]), torch.from_numpy(x).logsumexp((0, 1)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithm_of_a_sigmoid(dtype: type) -> None:
    x: Array = np.array([-INF, -1000, -80, -30, -18.5, -3, 0, 5, 17, 60, INF, NAN], dtype)
    model = graph_of("Sigmoid", [x])
    result = model.graph.outputs[0]
    last = model.graph[-1]
    log = ir.node("Log", [result])
    log.outputs[0].name = "z"
    log.outputs[0].type = result.type
    log.outputs[0].shape = result.shape
    model.graph.insert_after(last, log)
    model.graph.outputs[0] = log.outputs[0]
    close(rewritten(model, [x]), torch.from_numpy(x).sigmoid().log())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roots(dtype: type) -> None:
    x: Array = np.array([-INF, -2.0, -0.0, 0.0, 0.25, 3.0, INF, NAN], dtype)
    model = graph_of("Pow", [x], {1: np.array(0.5, dtype)})
    want = torch.from_numpy(x).pow(0.5)
    found = rewritten(model, [x])
    close(found, want)
    np.testing.assert_array_equal(np.signbit(found)[2:4], [True, False])


def test_other_powers_stay() -> None:
    x = np.array([4.0, 9.0], np.float32)
    for number in (-0.5, 2.0, 0.25):
        model = graph_of("Pow", [x], {1: np.array(number, np.float32)})
        avoid_inexact_kernels(model, Declared({}, ()))
        assert operators(model) == ["Pow"]


def test_other_sigmoids_stay() -> None:
    x = np.array([-30.0, 1.0], np.float32)
    model = graph_of("Sigmoid", [x])
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["Sigmoid"]
    assert run(model, [x])[1] == pytest.approx(0.7310586)
