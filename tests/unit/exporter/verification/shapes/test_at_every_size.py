"""Shapes at sizes that do not run."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import bind_inputs
from modelexport_exporter.verification.shapes.at_every_size import (
    ComparedShapes,
    compare_at_every_size,
    describe_shapes,
)
from modelexport_exporter.verification.shapes.eager_shapes import eager_shapes
from modelexport_exporter.verification.shapes.file_shapes import FileShapes
from modelexport_exporter.verification.shapes.observed import Observed

SPEC = ModelExportSpec.model_validate(
    {
        "source": {"uri": "file:///model.pt"},
        "model": {"factory": "a:b"},
        "inputs": [{"name": "x", "shape": ["n", 400]}],
        "dims": {"n": {"min": 1, "max": 120}},
        "destination": {"uri": "file:///out/"},
    }
)
RUNS = [Observed({"n": n}, {"y": (int(n * 0.58), 400)}) for n in (3, 11, 120)]
SECONDS = 60.0


def rows_of_share(path: Path, dtype: type[np.floating]) -> Path:
    """The file of x[:int(n * 0.58)] + weight, with sizes computed in a floating-point type."""
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = [
        helper.make_node("Shape", ["x"], ["n"], end=1),
        helper.make_node("Cast", ["n"], ["exact"], to=number),
        helper.make_node("Mul", ["exact", "share"], ["scaled"]),
        helper.make_node("Cast", ["scaled"], ["rows"], to=TensorProto.INT64),
        helper.make_node("Slice", ["x", "zero", "rows"], ["part"]),
        helper.make_node("Add", ["part", "weight"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 400])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 400])],
        initializer=[
            numpy_helper.from_array(np.array([0.58], dtype), "share"),
            numpy_helper.from_array(np.array([0]), "zero"),
            numpy_helper.from_array(np.ones(400, "f4"), "weight"),
        ],
    )
    opset = helper.make_opsetid("", 18)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=9), path)
    return path


def unknown(_sizes: object) -> None:
    """As a module whose shapes depend on contents."""


def compare(path: Path, declared: int | str, **options: object) -> ComparedShapes:
    return compare_at_every_size(
        SPEC,
        path,
        {"y": (declared, 400)},
        RUNS,
        **{"eager": unknown, "seconds": SECONDS, **options},  # type: ignore[arg-type]
    )


def test_the_runtime_states_shapes_without_weights(tmp_path: Path) -> None:
    shapes = FileShapes(rows_of_share(tmp_path / "m.onnx", np.float64))
    for n in (1, 2, 50, 90, 119):
        assert shapes.at({"n": n}) == {"y": (int(n * 0.58), 400)}


@pytest.mark.parametrize(("dtype", "differ"), [(np.float64, False), (np.float32, True)])
def test_a_size_that_rounds_otherwise_is_found(
    tmp_path: Path, dtype: type[np.floating], *, differ: bool
) -> None:
    """`int(50 * 0.58)` is 28 in Python, and 29 in float32."""

    class Rows(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[: int(x.shape[0] * 0.58)] + 1

    module = Rows()
    call = bind_inputs(SPEC, module, None).call
    eager = eager_shapes(module, call, {}, "cpu", lambda _: nullcontext())
    assert eager({"n": 50}) == [(28, 400)]
    found = compare(rows_of_share(tmp_path / "m.onnx", dtype), "rows", eager=eager)
    assert ({"n": 50} in found.suspects) == differ
    if not differ:
        assert len(found.with_eager) == 117


def test_a_false_declaration_is_found(tmp_path: Path) -> None:
    found = compare(rows_of_share(tmp_path / "m.onnx", np.float64), "29*n//50")
    assert sorted(sizes["n"] for sizes in found.suspects) == [50, 100]
    wrong = compare(rows_of_share(tmp_path / "m.onnx", np.float64), "n//2")
    assert len(wrong.suspects) == 4


def test_a_file_that_returns_something_else_than_runs_is_not_judged(tmp_path: Path) -> None:
    path = rows_of_share(tmp_path / "m.onnx", np.float64)
    runs = [Observed({"n": 50}, {"y": (7, 400)})]
    found = compare_at_every_size(SPEC, path, {}, runs, eager=unknown, seconds=SECONDS)
    assert found == ComparedShapes()


def test_all_sizes_cost_no_session_each(tmp_path: Path) -> None:
    path = rows_of_share(tmp_path / "m.onnx", np.float64)
    found = compare(path, "rows", seconds=0.2)
    assert len(found.declared) == 117
    assert found.with_eager == ()


@pytest.mark.parametrize(
    ("ran", "eager", "declared", "sentence"),
    [
        (20, 20, 20, {}),
        (20, 30, 30, {"n": "shapes at 30"}),
        (20, 20, 30, {"n": "declared shapes at 30"}),
        (20, 30, 120, {"n": "shapes at 30, declared shapes at all"}),
        (20, 120, 120, {"n": "shapes at all"}),
        (120, 120, 120, {}),
    ],
)
def test_sentence(ran: int, eager: int, declared: int, sentence: dict[str, str]) -> None:
    def first(count: int) -> tuple[dict[str, int], ...]:
        return tuple({"n": n} for n in range(1, count + 1))

    compared = ComparedShapes(first(eager), first(declared))
    assert describe_shapes(SPEC, first(ran), compared) == sentence
