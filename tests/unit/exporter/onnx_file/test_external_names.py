"""External data: found wherever a tensor is, refused where it leads out of the directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

from modelexport_exporter.onnx_file.external_names import (
    UnsafeNameError,
    external_names,
    external_problem,
    safe_name,
)


def outside(location: str) -> Any:  # noqa: ANN401
    tensor = onnx.TensorProto(name="t", data_type=onnx.TensorProto.FLOAT, dims=[1])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def constant(location: str) -> Any:  # noqa: ANN401
    return onnx.helper.make_node("Constant", [], ["c"], value=outside(location))


def test_every_place_that_a_tensor_can_be_in() -> None:
    branch = onnx.GraphProto(name="b", node=[constant("in_branch")])
    branch.initializer.append(outside("in_branch_weights"))
    sparse = onnx.SparseTensorProto(values=outside("sparse_values"), indices=outside("indices"))
    model = onnx.ModelProto()
    model.graph.initializer.append(outside("weights"))
    model.graph.sparse_initializer.append(sparse)
    model.graph.node.append(
        onnx.helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    )
    model.functions.append(onnx.FunctionProto(name="f", node=[constant("in_function")]))
    model.graph.initializer.append(outside("./weights"))
    assert external_names(model) == (
        "in_branch",
        "in_branch_weights",
        "in_function",
        "indices",
        "sparse_values",
        "weights",
    )


@pytest.mark.parametrize("name", ["w", "data/w.bin", "..w", "a..b"])
def test_names_below_the_directory(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../w", "a/../../w", "/etc/passwd", "a\\..\\w", "a\0b", "x" * 2000]
)
def test_names_that_lead_elsewhere(name: str) -> None:
    with pytest.raises(UnsafeNameError):
        safe_name(name)


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ({}, ""),
        ({"offset": "60", "length": "4"}, ""),
        ({"offset": "61", "length": "4"}, "ends at byte 65, data.bin has 64"),
        ({"offset": "64"}, "ends at byte 68, data.bin has 64"),
        ({"offset": "-4", "length": "4"}, "are no sizes"),
        ({"offset": "9" * 100, "length": "4"}, "are no sizes"),
        ({"offset": "zero"}, "are no sizes"),
        ({"length": "7"}, "its length is 7, its shape needs 4 bytes"),
    ],
)
def test_places_are_in_their_files(tmp_path: Path, entries: dict[str, str], problem: str) -> None:
    (tmp_path / "data.bin").write_bytes(bytes(64))
    tensor = outside("data.bin")
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    model = onnx.ModelProto()
    model.graph.initializer.append(tensor)
    found = external_problem(model, tmp_path)
    assert problem in found
    assert bool(problem) == bool(found)


@pytest.mark.parametrize("name", ["gone", "link", "directory", "../data.bin"])
def test_what_is_no_file_of_the_directory(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "directory").mkdir()
    model = onnx.ModelProto()
    model.graph.initializer.append(outside(name))
    assert external_problem(model, tmp_path)
