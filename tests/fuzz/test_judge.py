"""The judge catches a file that was damaged, and forgives what rounding explains."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper

from fuzz.case import FuzzCase
from fuzz.judge import declared_shapes, differs, judge
from fuzz.rounding import Overflows, rerun

Array = NDArray[Any]
N = {"n": (1, 30)}


class Scaled(torch.nn.Module):
    """x * 3 in ten places of the file."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 3.0


def case(dtype: str = "float32") -> FuzzCase:
    entry = {"name": "x", "dtype": dtype, "shape": ["n"]}
    return FuzzCase(1, "def forward(self, x):\n    return x * 3.0", (entry,), N)


def saved(path: Path, factor: float, *, declared: int | str = "n", slices: bool = False) -> Path:
    """Write a file that multiplies by the factor."""
    nodes = [helper.make_node("Mul", ["x", "factor"], ["y" if not slices else "z"])]
    constants = [helper.make_tensor("factor", TensorProto.FLOAT, [], [factor])]
    if slices:
        nodes.append(helper.make_node("Slice", ["z", "begin", "end"], ["y"]))
        constants += [
            helper.make_tensor("begin", TensorProto.INT64, [1], [0]),
            helper.make_tensor("end", TensorProto.INT64, [1], [29]),
        ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [declared])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, path)
    return path


def test_a_right_file_is_right(tmp_path: Path) -> None:
    assert judge(case(), Scaled(), saved(tmp_path / "m.onnx", 3.0)) is None


@pytest.mark.parametrize("factor", [3.0001, 2.999, -3.0, 1e9])
def test_a_damaged_constant_is_caught(factor: float, tmp_path: Path) -> None:
    found = judge(case(), Scaled(), saved(tmp_path / "m.onnx", factor))
    assert found is not None
    assert "elements differ" in found.text


def test_a_size_of_the_export_in_the_file_is_caught_at_the_one_size_where_it_shows(
    tmp_path: Path,
) -> None:
    found = judge(case(), Scaled(), saved(tmp_path / "m.onnx", 3.0, slices=True))
    assert found is not None
    assert "{'n': 30}" in found.text


def test_a_declared_shape_that_is_false_is_caught(tmp_path: Path) -> None:
    found = judge(case(), Scaled(), saved(tmp_path / "m.onnx", 3.0, declared=7))
    assert found is not None
    assert "declared [7]" in found.text


def test_integers_and_nan_are_exact() -> None:
    whole = np.array([2**53 + 1, 5])
    assert differs(whole, whole - [1, 0], []).tolist() == [True, False]
    gaps = np.array([np.nan, 1.0, np.inf])
    assert differs(gaps, gaps, []).tolist() == [False] * 3
    assert differs(gaps, np.array([0.0, np.nan, -np.inf]), []).tolist() == [True] * 3


def test_small_columns_beside_large_ones_have_limits_of_their_own() -> None:
    want = np.tile(np.array([[1e6, 0.5]], "f4"), (8, 1))
    have = want + np.array([[0.0, 1e-3]], "f4")
    assert differs(want, have, [want])[:, 1].all()


def test_rounding_is_forgiven_and_more_is_not() -> None:
    torch.manual_seed(0)
    values = torch.randn(64, 64)

    def cancels() -> torch.Tensor:
        return (values * 1e4).sum(1) - (values * 1e4).flip(1).sum(1)

    others = [answer.numpy() for answer in rerun(cancels, range(4))]
    want = cancels().numpy()
    finer = (values.double() * 1e4).sum(1) - (values.double() * 1e4).flip(1).sum(1)
    assert not differs(want, finer.float().numpy(), others).any()
    assert differs(want, want + np.float32(10.0), others).all()


def test_what_exact_numbers_decide_is_never_forgiven() -> None:
    halves = torch.tensor([0.5, 1.5, 2.5, -0.5])
    want = halves.round().numpy()
    others = [answer.numpy() for answer in rerun(halves.round, range(8))]
    away = np.array([1.0, 2.0, 3.0, -1.0], "f4")
    assert differs(want, away, others).tolist() == [True, False, True, True]


def test_what_rounding_decides_is_forgiven() -> None:
    close = torch.full((200,), 1 / 3)

    def decided() -> torch.Tensor:
        return (close * 3.3).sin() > (close.double() * 3.3).sin().float()

    others = [answer.numpy() for answer in rerun(decided, range(44))]
    want = decided().numpy()
    assert np.mean(differs(want, ~want, others)) < 0.02


def test_any_order_of_equal_values_is_forgiven_and_others_are_not() -> None:
    values = torch.tensor([0.1, *[2.0, 1.0, 2.0, 0.5] * 10])
    want = values.argsort().numpy()
    others = [answer.numpy() for answer in rerun(values.argsort, range(4, 44))]
    reversed_ties = np.lexsort((-np.arange(41), values.numpy()))
    assert not differs(want, reversed_ties, others).any()
    descending = values.argsort(descending=True).numpy()
    assert differs(want, descending, others)[0]
    unequal = torch.arange(40.0)
    settled = [answer.numpy() for answer in rerun(unequal.argsort, range(4, 44))]
    assert differs(unequal.argsort().numpy(), np.roll(np.arange(40), 1), settled).all()


def test_equal_values_in_the_order_of_their_indices_are_forgiven() -> None:
    values = torch.full((3, 56), -1.0)

    def chosen() -> torch.Tensor:
        return torch.isin(values.topk(9).indices, torch.tensor([0, 6]))

    by_index = np.isin(np.arange(9), [0, 6])[None].repeat(3, 0)
    others = [answer.numpy() for answer in rerun(chosen, range(4))]
    assert not differs(chosen().numpy(), by_index, others).any()


@pytest.mark.parametrize(
    ("select", "place"),
    [
        (lambda x: x.kthvalue(3).indices, 2),
        (lambda x: x.median(-1).indices, 27),
        (lambda x: x.nanmedian(-1).indices, 27),
    ],
)
def test_selection_among_equal_values_is_forgiven(
    select: Callable[[torch.Tensor], torch.Tensor], place: int
) -> None:
    values = torch.full((3, 56), -1.0)

    def found() -> torch.Tensor:
        return select(values)

    others = [answer.numpy() for answer in rerun(found, range(4))]
    assert not differs(found().numpy(), np.full(3, place), others).any()


def test_a_stable_sort_has_one_order() -> None:
    values = torch.tensor([2.0, 1.0, 2.0, 1.0])

    def ordered() -> torch.Tensor:
        return values.sort(stable=True).indices

    others = [answer.numpy() for answer in rerun(ordered, range(4, 44))]
    assert differs(ordered().numpy(), np.array([3, 1, 2, 0]), others).all()


def test_sigmoid_is_exact_to_a_unit_after_the_point() -> None:
    values = torch.tensor([-12.0, 17.0, 0.3])
    want = values.sigmoid().numpy()
    others = [answer.numpy() for answer in rerun(values.sigmoid, range(44))]
    assert not differs(want, want + np.float32(5e-8), others).any()
    assert differs(want, want + np.float32(5e-4), others).all()


def test_an_output_without_a_declared_shape_has_no_false_one(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", 3.0)
    model = onnx.load(path)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(model, path)
    assert declared_shapes(path) == [None]
    assert judge(case(), Scaled(), path) is None


def forgiven(call: Callable[[], torch.Tensor], have: Array) -> bool:
    others = [answer.numpy() for answer in rerun(call, range(44))]
    return not bool(differs(call().numpy(), have, others).any())


def test_cancellation_inside_a_product_that_is_added_is_forgiven() -> None:
    v, w = torch.tensor([0.04]).double() / 3, torch.tensor([0.1]).double()
    want = torch.addcmul(v, v, w, value=-10.0).numpy()

    def call() -> torch.Tensor:
        return torch.addcmul(v, v, w, value=-10.0)

    assert forgiven(call, want + 2e-18)
    assert not forgiven(call, want + 1e-6)


def test_decimals_are_no_binary_numbers() -> None:
    x = torch.tensor([0.15, 1.0, 0.27])

    def call() -> torch.Tensor:
        return (torch.round(x, decimals=2).double() * 1e6).mean()

    assert forgiven(call, call().numpy() + 0.004)
    assert not forgiven(call, call().numpy() + 3000.0)


def test_zeros_lose_their_sign() -> None:
    x = torch.tensor([-0.0, 2.0, 3.0, 4.0])

    def call() -> torch.Tensor:
        zero = torch.relu(x)
        return torch.atan2(zero, zero) ** 2

    want = call().numpy()
    assert forgiven(call, np.array([0.0, *want[1:]], "f4"))
    assert not forgiven(call, np.array([want[0], 9.0, *want[2:]], "f4"))


@pytest.mark.parametrize(("size", "found"), [(100.0, False), (300.0, True)])
def test_overflow_in_half_precision_is_found(size: float, found: bool) -> None:
    x = torch.tensor([size, 1.0], dtype=torch.float16)
    with Overflows() as mode:
        _ = 1 / (x**2)
    assert mode.found is found
    with Overflows() as mode:
        _ = torch.tensor([math.inf], dtype=torch.float16) + 1
    assert not mode.found
