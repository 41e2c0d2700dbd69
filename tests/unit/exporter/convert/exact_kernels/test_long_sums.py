"""Sums of many numbers are as exact as torch's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx_ir as ir
import pytest
import torch

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from modelexport_exporter.sampling.draw import Array
from unit.exporter.convert.exact_kernels.graphs import graph_of, operators, run

CLOSE = 3e-6
LONG = Declared(largest={"": 1024}, elements=2**20)
REDUCTIONS: dict[str, Callable[[Array, tuple[int, ...]], Array]] = {
    "ReduceSum": lambda x, axes: x.sum(axes),
    "ReduceMean": lambda x, axes: x.mean(axes),
    "ReduceL1": lambda x, axes: np.abs(x).sum(axes),
    "ReduceL2": lambda x, axes: np.sqrt((x * x).sum(axes)),
    "ReduceSumSquare": lambda x, axes: (x * x).sum(axes),
}
AXES = {
    "image": ((2, 3, 300, 500), [2, 3]),
    "image, counted from the end": ((2, 3, 300, 500), [-1, -2]),
    "channels last": ((2, 300, 500, 3), [1, 2]),
    "all": ((2, 300, 500), []),
    "signal": ((3, 100001), [1]),
    "rows": ((100001, 3), [0]),
    "rows in the middle": ((2, 70000, 3), [1]),
    "channels and signal": ((2, 4, 50000), [1, 2]),
}


def constant(shape: Sequence[int]) -> Array:
    return np.full(shape, -0.7312, np.float32)


def check(have: Array, want: Array) -> None:
    assert have.dtype == np.float32
    assert have.shape == want.shape
    assert float(np.abs(have - want).max() / np.abs(want).max()) < CLOSE


@pytest.mark.parametrize("operator", REDUCTIONS)
@pytest.mark.parametrize("case", AXES)
@pytest.mark.parametrize("opset", [11, 13, 18, 20])
def test_reductions(operator: str, case: str, opset: int) -> None:
    shape, axes = AXES[case]
    x = constant(shape)
    exact = REDUCTIONS[operator](x.astype(np.float64), tuple(axes) or tuple(range(x.ndim)))
    as_inputs = opset >= (13 if operator == "ReduceSum" else 18)
    constants = {1: np.array(axes, np.int64)} if as_inputs and axes else {}
    attributes = {} if as_inputs or not axes else {"axes": axes}
    model = graph_of(operator, [x], constants, opset, keepdims=0, **attributes)
    inexact = run(model, [x])
    assert np.abs(inexact - exact).max() / np.abs(exact).max() > CLOSE, "the kernel is exact"
    _name(model, *shape)
    avoid_inexact_kernels(model, LONG)
    check(run(model, [x]), exact)


@pytest.mark.parametrize("kept", [0, 1])
@pytest.mark.parametrize("count", [0, 1, 511, 512, 513])
def test_any_number_of_elements(kept: int, count: int) -> None:
    x = np.random.default_rng(0).random((2, count, 3), np.float32)
    model = graph_of("ReduceMean", [x], {1: np.array([1])}, keepdims=kept)
    _name(model, None, "t", None)
    avoid_inexact_kernels(model, Declared(largest={"t": 10**6}))
    assert "Pad" in operators(model)
    want = torch.from_numpy(x).mean(1, keepdim=bool(kept)).numpy()
    np.testing.assert_allclose(run(model, [x]), want, rtol=1e-6, strict=True)


def test_no_rows_beside_a_long_dim() -> None:
    x = np.zeros((0, 600, 3), np.float32)
    model = graph_of("ReduceSum", [x], {1: np.array([1])}, keepdims=0)
    _name(model, None, "t", None)
    avoid_inexact_kernels(model, Declared(largest={"t": 10**6}))
    assert run(model, [x]).shape == (0, 3)


def test_averages_of_images() -> None:
    x = constant((1, 2, 700, 600))
    model = graph_of("GlobalAveragePool", [x])
    _name(model, *x.shape)
    avoid_inexact_kernels(model, LONG)
    check(run(model, [x]), x.astype(np.float64).mean((2, 3), keepdims=True))


@pytest.mark.parametrize("reverse", [0, 1])
def test_running_sums(reverse: int) -> None:
    x = constant((2, 50000))
    model = graph_of("CumSum", [x], {1: np.array(1)}, reverse=reverse)
    _name(model, *x.shape)
    avoid_inexact_kernels(model, LONG)
    wide = x.astype(np.float64)
    exact = wide[:, ::-1].cumsum(1)[:, ::-1] if reverse else wide.cumsum(1)
    check(run(model, [x]), exact)


@pytest.mark.parametrize(
    ("operator", "shape", "axes"),
    [
        ("ReduceMean", (4, 768), [1]),
        ("ReduceMean", (4, 512, 7, 7), [2, 3]),
        ("ReduceSum", (4, 10000), [1]),
        ("CumSum", (4, 200), [1]),
    ],
)
def test_short_sums_stay(operator: str, shape: tuple[int, ...], axes: list[int]) -> None:
    x = constant(shape)
    given = np.array(axes[0] if operator == "CumSum" else axes)
    model = graph_of(operator, [x], {1: given})
    _name(model, *shape)
    avoid_inexact_kernels(model, Declared())
    assert operators(model) == [operator]


def test_double_precision_stays() -> None:
    x: Array = np.ones((2, 300, 500))
    model = graph_of("ReduceMean", [x], {1: np.array([1, 2])})
    _name(model, *x.shape)
    avoid_inexact_kernels(model, LONG)
    assert operators(model) == ["ReduceMean"]


def test_how_long_dims_are() -> None:
    spec = ModelExportSpec.model_validate(
        {
            "source": {"uri": "s3://bucket/model.pt"},
            "model": {"factory": "net:build"},
            "inputs": [{"name": "x", "shape": ["n", 20], "dtype": "float32"}],
            "dims": {"n": {"min": 1, "max": 50}},
            "destination": {"uri": "s3://bucket/out/"},
        }
    )
    declared = Declared.of(spec)
    names = ["n", "n//2", "u0", "2*u0", None]
    assert [declared.longest(ir.SymbolicDim(name)) for name in names] == [50, 50, 1000, 1000, 1000]
    assert declared.longest(7) == 7


def _name(model: ir.Model, *dims: int | str | None) -> None:
    model.graph.inputs[0].shape = ir.Shape(dims)
