"""Arithmetic of sizes at many sizes at once, against onnxruntime's own kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from modelexport_exporter.verification.shapes.all_sizes import values_at_all

Array = NDArray[Any]

NUMBERS = np.array([-(2**63), -(2**40), -7, -3, -1, 0, 1, 2, 3, 7, 97, 2**40, 2**63 - 1])
ONE, OTHER = (own.reshape(-1, 1) for own in np.meshgrid(NUMBERS, NUMBERS))
OF_TWO = ["Add", "Sub", "Mul", "Min", "Max", "Equal", "Less", "LessOrEqual", "Greater"]


def model(nodes: list[onnx.NodeProto], **inputs: Array) -> onnx.ModelProto:
    """Return a file of these nodes, whose output is y, on rows of the inputs."""
    given = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(value.dtype), [None, *value.shape[1:]]
        )
        for name, value in inputs.items()
    ]
    graph = helper.make_graph(nodes, "g", given, [onnx.ValueInfoProto(name="y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def by_runtime(file: onnx.ModelProto, **inputs: Array) -> Array:
    session = onnxruntime.InferenceSession(
        file.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found: Array = session.run(None, inputs)[0]
    return found


def at_once(file: onnx.ModelProto, **inputs: Array) -> Array | None:
    found = values_at_all(file, inputs)
    return None if found is None else found["y"]


def agrees(file: onnx.ModelProto, **inputs: Array) -> bool:
    found, expected = at_once(file, **inputs), by_runtime(file, **inputs)
    return found is not None and found.dtype == expected.dtype and np.array_equal(found, expected)


@pytest.mark.parametrize("kind", [*OF_TWO, "GreaterOrEqual"])
def test_integers_are_those_of_the_runtime(kind: str) -> None:
    file = model([helper.make_node(kind, ["a", "b"], ["y"])], a=ONE, b=OTHER)
    assert agrees(file, a=ONE, b=OTHER)


@pytest.mark.parametrize(
    "node",
    [
        helper.make_node("Div", ["a", "b"], ["y"]),
        helper.make_node("Mod", ["a", "b"], ["y"]),
        helper.make_node("Mod", ["a", "b"], ["y"], fmod=1),
    ],
    ids=["Div", "Mod", "fmod"],
)
def test_quotients_are_those_of_the_runtime(node: onnx.NodeProto) -> None:
    possible = (OTHER != 0) & (ONE > -(2**63))  # int64 holds no 2**63
    one, other = (own[possible].reshape(-1, 1) for own in (ONE, OTHER))
    file = model([node], a=one, b=other)
    assert agrees(file, a=one, b=other)


@pytest.mark.parametrize("kind", ["Neg", "Abs"])
def test_one_operand(kind: str) -> None:
    numbers = NUMBERS.reshape(-1, 1)
    assert agrees(model([helper.make_node(kind, ["a"], ["y"])], a=numbers), a=numbers)


@pytest.mark.parametrize("kind", ["And", "Or"])
def test_conditions(kind: str) -> None:
    one, other = ONE > 0, OTHER > 0
    file = model(
        [
            helper.make_node(kind, ["a", "b"], ["either"]),
            helper.make_node("Not", ["either"], ["not"]),
            helper.make_node("Cast", ["not"], ["y"], to=TensorProto.INT64),
        ],
        a=one,
        b=other,
    )
    assert agrees(file, a=one, b=other)


def test_the_least_of_three() -> None:
    file = model([helper.make_node("Min", ["a", "b", "a"], ["y"])], a=ONE, b=OTHER)
    assert agrees(file, a=ONE, b=OTHER)


def test_a_choice() -> None:
    condition = ONE > OTHER
    file = model([helper.make_node("Where", ["c", "a", "b"], ["y"])], c=condition, a=ONE, b=OTHER)
    assert agrees(file, c=condition, a=ONE, b=OTHER)


@pytest.mark.parametrize("kind", ["Div", "Mod"])
def test_a_divisor_of_zero_is_not_computed(kind: str) -> None:
    """onnxruntime's kernel divides, which ends the process."""
    file = model([helper.make_node(kind, ["a", "b"], ["y"])], a=ONE, b=OTHER)
    assert at_once(file, a=ONE, b=OTHER) is None


def test_a_value_that_no_rule_knows() -> None:
    file = model([helper.make_node("NonZero", ["a"], ["y"])], a=ONE)
    assert at_once(file, a=ONE) is None
