"""A file of several graphs, one for each side of the model's conditions on sizes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_api.status import Verdict
from modelexport_exporter.convert.by_size import capture_pieces
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ConvertedModel, ExportTask, Rung
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.verify import verify_model
from models import catalog
from models.catalog import CODE, RealModel, initialised
from models.code import sized
from models.exporting import forget_user_code, silent, task_for

ROWS = ("n", 4)
PICTURE = ("h", "w")


@pytest.fixture(autouse=True)
def _one_test_is_one_worker() -> Iterator[None]:
    yield
    forget_user_code()
    sys.modules.pop("sized", None)


def exported(
    factory: type[torch.nn.Module],
    directory: Path,
    shape: tuple[object, ...] = ROWS,
    largest: int = 40,
    rung: Rung = Rung.DYNAMO_BY_SIZE,
    **changes: Any,  # noqa: ANN401
) -> tuple[ExportTask, ConvertedModel]:
    """Export a model whose sizes are 1..largest."""
    dims = {name: {"min": 1, "max": largest} for name in shape if isinstance(name, str)}
    model: RealModel = replace(
        catalog.SINE,
        name=factory.__name__,
        factory=f"sized:{factory.__name__}",
        code=CODE / "sized.py",
        outputs=[],
        write=initialised(factory),
        **{"inputs": [{"name": "x", "shape": list(shape)}], "dims": dims, **changes},
    )
    task = replace(task_for(model, directory), rung=rung)
    return task, export_model(task, silent)


@pytest.mark.parametrize(
    ("factory", "shape", "graphs"),
    [
        pytest.param(sized.GrowingTable, ROWS, {2}, id="a table that grows"),
        pytest.param(sized.CentreCrop, PICTURE, {4, 5, 6, 7}, id="a crop that pads"),
        pytest.param(sized.PositionTable, ROWS, {3, 4}, id="interpolated positions"),
        pytest.param(sized.Pieces, ROWS, {6}, id="a number of pieces"),
        pytest.param(sized.EqualDims, PICTURE, {2}, id="dims that meet"),
    ],
)
def test_each_side_has_its_graph_and_all_verify(
    factory: type[torch.nn.Module], shape: tuple[object, ...], graphs: set[int], tmp_path: Path
) -> None:
    task, converted = exported(factory, tmp_path, shape)
    assert converted.op_counts["If"] + 1 in graphs
    assert len(converted.guards) == converted.op_counts["If"] + 1
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.VERIFIED, outcome
    ran = [sample.dims for sample in outcome.samples]
    for guard in converted.guards:
        assert any(sizes in ran for sizes in guard.sizes), guard


def test_conditions_that_few_of_millions_of_sizes_fail(tmp_path: Path) -> None:
    dims = {"n": {"min": 1, "max": 3000}, "m": {"min": 1, "max": 3000}}
    inputs = [{"name": "x", "shape": ["n"]}, {"name": "y", "shape": ["m"]}]
    task, converted = exported(sized.OnALine, tmp_path, dims=dims, inputs=inputs)
    assert converted.op_counts["If"] == 1
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.VERIFIED, outcome
    ran = [sum(sample.dims.values()) == 4189 for sample in outcome.samples]
    assert any(ran)
    assert not all(ran)


def test_conditions_that_few_rows_meet(tmp_path: Path) -> None:
    dims = {"b": {"min": 1, "max": 5}, "t": {"min": 1, "max": 6}, "p": {"min": 0, "max": 8}}
    inputs = [{"name": "x", "shape": ["b", "t", 8]}, {"name": "past", "shape": ["b", 2, "p", 4]}]
    task, converted = exported(sized.KeptWindow, tmp_path, dims=dims, inputs=inputs)
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.VERIFIED, outcome


def test_a_model_that_uses_int_as_a_type_has_the_sizes_of_the_example(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match=r"requested 1\.\.40, got 3.*int\(n \* 0\.5\)"):
        exported(sized.OfTypes, tmp_path, rung=Rung.DYNAMO)


def test_sizes_in_floats_need_one_graph(tmp_path: Path) -> None:
    task, converted = exported(sized.Share, tmp_path, rung=Rung.DYNAMO)
    assert not converted.guards
    assert verify_model(task, converted, silent).summary.verdict is Verdict.VERIFIED


def test_weights_are_in_the_file_once(tmp_path: Path) -> None:
    _, converted = exported(sized.PositionTable, tmp_path)
    weights = onnx.load(converted.model_path).graph.initializer
    assert [tuple(weight.dims) for weight in weights].count((1, 4, 4, 4)) == 1


def test_a_graph_for_each_of_few_sizes(tmp_path: Path) -> None:
    task, converted = exported(sized.EachSize, tmp_path, largest=6)
    assert converted.op_counts["If"] == 5
    assert verify_model(task, converted, silent).summary.verdict is Verdict.VERIFIED


def test_too_many_graphs_are_refused_with_some_of_their_sizes(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match=r"more than 12 parts .*n == \d+") as caught:
        exported(sized.EachSize, tmp_path)
    assert caught.value.reason is Reason.DYNAMIC_DIM_SPECIALIZED


def test_pieces_that_take_too_long_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_pieces, "MOST_SECONDS", 0.0)
    with pytest.raises(ExportFailure, match="more parts of the declared sizes than 1"):
        exported(sized.EachSize, tmp_path, largest=6)


def test_outputs_of_another_rank_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match="another type or rank in another branch"):
        exported(sized.OtherRank, tmp_path)
