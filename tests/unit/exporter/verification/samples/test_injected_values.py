from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from modelexport_exporter.sampling.inject import InjectedValues
from modelexport_exporter.verification.samples.injected_values import find_injected_values

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


def scalar(value: float, name: str = "") -> TensorProto:
    return numpy_helper.from_array(np.asarray(value, dtype=np.float32), name)


def file_with(tmp_path: Path, *scalars: float, more: Sequence[onnx.NodeProto] = ()) -> Path:
    constants = [
        helper.make_node("Constant", [], [f"c{place}"], value=scalar(value))
        for place, value in enumerate(scalars)
    ]
    graph = helper.make_graph(
        [*constants, *more, helper.make_node("Gather", ["embed.weight", "ids"], ["y"])],
        "g",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        [
            numpy_helper.from_array(TABLE, "embed.weight"),
            scalar(7.0, "s"),
        ],
    )
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph), path)
    return path


def test_constants_are_found(tmp_path: Path) -> None:
    path = file_with(tmp_path, 0.5, 6.0, np.inf, np.nan, 0.0, -3e38)
    assert find_injected_values(path) == InjectedValues(constants=(0.5, 6.0, 7.0))


@pytest.mark.parametrize(
    ("nodes", "scale"),
    [
        ([("Round", "x")], 1.0),
        ([("Mul", "x", "c0"), ("Round", "m0")], 4.0),
        ([("Mul", "c0", "x"), ("Floor", "m0")], 4.0),
        ([("Div", "x", "c0"), ("Ceil", "m0")], 0.25),
        ([("Div", "x", "c0"), ("Clip", "m0"), ("Round", "m1")], 0.25),
    ],
)
def test_values_scaled_to_halves_before_a_rounding_are_injected(
    tmp_path: Path, nodes: list[tuple[str, ...]], scale: float
) -> None:
    made = [helper.make_node(op, names, [f"m{at}"]) for at, (op, *names) in enumerate(nodes)]
    injected_values = find_injected_values(file_with(tmp_path, 4.0, more=made))
    assert injected_values.constants == (4.0, 7.0)
    assert {half / scale for half in (-1.5, -0.5, 0.5, 2.5)} <= set(injected_values.halves)


def test_file_without_rounding_has_no_halves(tmp_path: Path) -> None:
    assert find_injected_values(file_with(tmp_path, 4.0)).halves == ()


def test_what_values_are_compared_with_is_injected(tmp_path: Path) -> None:
    edges = numpy_helper.from_array(np.array([18, 25.5, 65], np.float32))
    ids = numpy_helper.from_array(np.array([102, 117], np.int64))
    shape = numpy_helper.from_array(np.array([7, 8], np.int64))
    nodes = [
        helper.make_node("Constant", [], ["edges"], value=edges),
        helper.make_node("Constant", [], ["ids"], value=ids),
        helper.make_node("Constant", [], ["shape"], value=shape),
        helper.make_node("Less", ["x", "edges"], ["a"]),
        helper.make_node("Equal", ["ids", "t"], ["b"]),
        helper.make_node("Reshape", ["x", "shape"], ["c"]),
    ]
    found = find_injected_values(file_with(tmp_path, more=nodes))
    assert {18.0, 25.5, 65.0} <= set(found.constants)
    assert found.limits == (18.0, 25.5, 65.0)
    assert found.compared == (102, 117)
    assert found.integers == (102, 117)
