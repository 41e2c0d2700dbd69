"""Reductions of no rows and no columns have torch's shapes and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
import torch

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import graph_of, operators, run

FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "ReduceSum": torch.sum,
    "ReduceMean": torch.mean,
    "ReduceMax": torch.amax,
    "ReduceMin": torch.amin,
    "ReduceProd": torch.prod,
    "ReduceLogSumExp": torch.logsumexp,
}


@pytest.mark.parametrize("operator", FUNCTIONS)
@pytest.mark.parametrize("shape", [(0, 5), (2, 0), (2, 0, 3), (3, 4)])
@pytest.mark.parametrize("keep", [False, True])
def test_reductions_of_nothing(operator: str, shape: tuple[int, ...], keep: bool) -> None:
    x = np.ones(shape, np.float32)
    function: Any = FUNCTIONS[operator]
    if operator in {"ReduceMax", "ReduceMin"} and not shape[-1]:
        return  # torch refuses it
    model = graph_of(operator, [x], {1: np.array([-1])}, keepdims=int(keep))
    _name_dims(model, *[f"u{place}" for place in range(len(shape))])
    avoid_inexact_kernels(model, Declared({}, ()))
    want = function(torch.from_numpy(x), -1, keepdim=keep).numpy()
    np.testing.assert_allclose(run(model, [x]), want, rtol=1e-6, strict=True)


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("keep", [False, True])
def test_places_of_no_rows(operator: str, keep: bool) -> None:
    x = np.ones((0, 5), np.float32)
    model = graph_of(operator, [x], axis=-1, keepdims=int(keep))
    _name_dims(model, "u0", "c")
    avoid_inexact_kernels(model, Declared({}, ("c",)))
    assert run(model, [x]).shape == ((0, 1) if keep else (0,))


@pytest.mark.parametrize("opset", [11, 17])
def test_axes_that_are_attributes(opset: int) -> None:
    x = np.ones((0, 5), np.float32)
    model = graph_of("ReduceMax", [x], None, opset, axes=[-1], keepdims=0)
    avoid_inexact_kernels(model, Declared({}, ()))
    assert run(model, [x]).shape == (0,)


def test_a_mean_over_a_dim_that_may_be_0_is_not_a_number() -> None:
    x = np.ones((2, 0), np.float32)
    model = graph_of("ReduceMean", [x], {1: np.array([1])}, keepdims=0)
    _name_dims(model, "n", "m")
    avoid_inexact_kernels(model, Declared({}, ("n",), may_be_empty=("m",)))
    assert np.isnan(run(model, [x])).all()
    np.testing.assert_array_equal(run(model, [np.array([[1, 2, 6]], np.float32)]), [3])


def test_a_graph_that_is_never_empty_stays() -> None:
    x = np.ones((2, 5), np.float32)
    model = graph_of("ReduceMean", [x], {1: np.array([-1])}, keepdims=0)
    _name_dims(model, "n", "c")
    before = str(model.graph)
    avoid_inexact_kernels(model, Declared({}, ("n", "c")))
    assert str(model.graph) == before
    assert operators(model) == ["ReduceMean"]


def test_a_mean_of_a_scalar_stays() -> None:
    model = graph_of("ReduceMean", [np.array(3.0, np.float32)], keepdims=0)
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["ReduceMean"]


@pytest.mark.parametrize(
    ("may_be_empty", "is_rewritten"), [(("m",), True), ((), False)], ids=["empty", "never empty"]
)
def test_any_of_nothing_is_false(may_be_empty: tuple[str, ...], is_rewritten: bool) -> None:
    model = graph_of("ReduceMax", [np.ones((2, 0), np.int64)], {1: np.array([1])}, keepdims=0)
    _name_dims(model, "n", "m")
    _cast_from_booleans(model)
    avoid_inexact_kernels(model, Declared({}, ("n",), may_be_empty=may_be_empty))
    assert ("Max" in operators(model)) is is_rewritten
    assert run(model, [np.array([[True, False], [False, False]])]).tolist() == [1, 0]
    if is_rewritten:
        assert run(model, [np.ones((2, 0), bool)]).tolist() == [0, 0]


def _cast_from_booleans(model: ir.Model) -> None:
    """Let the input be booleans, cast to what it was."""
    given = model.graph.inputs[0]
    cast = ir.node("Cast", [given], {"to": ir.DataType.INT64})
    given.replace_all_uses_with(cast.outputs[0])
    cast.replace_input_with(0, given)
    cast.outputs[0].name, cast.outputs[0].shape = "as_integers", given.shape
    cast.outputs[0].dtype = ir.DataType.INT64
    given.dtype = ir.DataType.BOOL
    model.graph.insert_before(model.graph[0], cast)


def _name_dims(model: ir.Model, *names: str) -> None:
    model.graph.inputs[0].shape = ir.Shape(names)
