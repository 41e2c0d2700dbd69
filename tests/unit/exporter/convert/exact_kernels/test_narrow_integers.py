"""Operators on 8 and 16 bit integers that onnxruntime lacks are computed as int32."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir
import pytest
import torch
from torch import Tensor

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from modelexport_exporter.convert.exact_kernels.narrow_integers import LACKING
from unit.exporter.convert.exact_kernels.graphs import Array, graph_of, operators, rewritten, run

CASES = [(operator, dtype) for operator, entry in LACKING.items() for dtype in sorted(entry.dtypes)]


def numbers(dtype: ir.DataType) -> list[Array]:
    limits = np.iinfo(dtype.numpy())
    x: Array = np.array([[limits.min, 3, limits.max], [7, 0, 7]], dtype.numpy())
    return [x, x[::-1].copy()]


FLAGS: Array = np.array([[True, False, True]] * 2)
WANTED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "ReduceMax": lambda x, _: x.amax(1, True),
    "ReduceMin": lambda x, _: x.amin(1, True),
    "ArgMax": lambda x, _: x.argmax(1, True),
    "ArgMin": lambda x, _: x.argmin(1, True),
    "NonZero": lambda x, _: x.nonzero().T,
    "Trilu": lambda x, _: x.tril(),
    "Relu": lambda x, _: x.relu(),
    "Neg": lambda x, _: -x,
    "Max": torch.maximum,
    "Min": torch.minimum,
    "Clip": lambda x, _: x.clamp(1, 5),
    "Pad": lambda x, _: torch.nn.functional.pad(x, (1, 0, 0, 1), value=5),
    "Where": lambda x, y: torch.where(torch.from_numpy(FLAGS), x, y),
    "ReduceSum": lambda x, _: x.sum(1, True),
    "CumSum": lambda x, _: x.cumsum(1),
    "MatMul": lambda x, y: x @ y.mT,
}
ATTRIBUTES: dict[str, dict[str, int]] = {
    "ArgMax": {"axis": 1},
    "ArgMin": {"axis": 1},
    "Trilu": {"upper": 0},
}


def case_of(operator: str, dtype: ir.DataType) -> tuple[ir.Model, list[Array], Tensor]:
    """Return the operator as a model, its inputs, and what torch computes in int64."""
    x, y = numbers(dtype)
    one, five = (np.array(number, x.dtype) for number in (1, 5))
    feeds = {
        "Max": [x, y],
        "Min": [x, y],
        "Clip": [x, one, five],
        "Pad": [x, five],
        "Where": [FLAGS, x, y],
        "MatMul": [x, y.T.copy()],
    }
    constants = {1: np.array([0, 1, 1, 0] if operator == "Pad" else [1])}
    has_constant = operator in {"ReduceMax", "ReduceMin", "ReduceSum", "CumSum", "Pad"}
    feed = feeds.get(operator, [x])
    model = graph_of(
        operator, feed, constants if has_constant else {}, **ATTRIBUTES.get(operator, {})
    )
    a, b = (torch.from_numpy(entry.astype(np.int64)) for entry in (x, y))
    return model, feed, WANTED[operator](a, b)


@pytest.mark.parametrize(("operator", "dtype"), CASES)
def test_results_are_those_of_torch(operator: str, dtype: ir.DataType) -> None:
    model, feed, want = case_of(operator, dtype)
    got = rewritten(model, feed)
    returned = got.dtype if not LACKING[operator].returns_it else np.dtype(dtype.numpy())
    np.testing.assert_array_equal(got, want.numpy().astype(returned), strict=True)


@pytest.mark.parametrize(("operator", "dtype"), CASES)
def test_the_runtime_lacks_the_operator(operator: str, dtype: ir.DataType) -> None:
    model, feed, _ = case_of(operator, dtype)
    with pytest.raises(Exception, match=r"NOT_IMPLEMENTED|NotImplemented|Could not find|type|Type"):
        run(model, feed)


def test_booleans_are_counted() -> None:
    x: Array = np.array([[True, False, True], [False, False, True]])
    model = graph_of("CumSum", [x], {1: np.array(1)})
    got = rewritten(model, [x])
    np.testing.assert_array_equal(got, x.cumsum(1), strict=True)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_wider_integers_stay(dtype: type) -> None:
    x: Array = np.array([[1, 2]], dtype)
    model = graph_of("ArgMax", [x], axis=1)
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["ArgMax"]
