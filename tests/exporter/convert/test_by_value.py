"""A file of several graphs, one for each path through the model's branches on values."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_api.status import Verdict
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ConvertedModel, ExportTask, Rung
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.verify import verify_model
from models import catalog
from models.catalog import CODE, initialised
from models.code import deciding, sized
from models.exporting import forget_user_code, silent, task_for


@pytest.fixture(autouse=True)
def _one_test_is_one_worker() -> Iterator[None]:
    yield
    forget_user_code()
    for name in ("deciding", "sized"):
        sys.modules.pop(name, None)


def exported(
    factory: type[torch.nn.Module],
    directory: Path,
    code: str = "deciding",
    numbers: Sequence[Mapping[str, Any]] = (),
) -> tuple[ExportTask, ConvertedModel]:
    """Export a model of 3 columns and 3..6 rows, and numbers as further inputs."""
    model = replace(
        catalog.SINE,
        name=factory.__name__,
        factory=f"{code}:{factory.__name__}",
        code=CODE / f"{code}.py",
        inputs=[{"name": "x", "shape": ["n", 3]}, *map(dict, numbers)],
        outputs=["y"],
        dims={"n": {"min": 3, "max": 6}},
        write=initialised(factory),
    )
    task = replace(task_for(model, directory), rung=Rung.DYNAMO_BY_VALUE)
    return task, export_model(task, silent)


@pytest.mark.parametrize(
    ("factory", "decisions"),
    [
        pytest.param(deciding.Rotation, {1}, id="a formula for small angles"),
        pytest.param(deciding.Nested, {3}, id="items, equality, lambdas"),
        pytest.param(deciding.DecidesTwice, {1}, id="the same condition twice"),
        pytest.param(deciding.Smallest, {3}, id="min and max of rows"),
    ],
)
def test_all_paths_are_in_the_file_and_verify(
    factory: type[torch.nn.Module], decisions: set[int], tmp_path: Path
) -> None:
    task, converted = exported(factory, tmp_path)
    assert converted.op_counts["If"] in decisions
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.VERIFIED, outcome
    assert not outcome.not_compared


@pytest.mark.parametrize(
    ("factory", "numbers", "decisions"),
    [
        pytest.param(
            deciding.Controlled,
            [{"name": "gain", "kind": "Float"}, {"name": "limited", "kind": "Bool"}],
            1,
            id="a switch in a loop",
        ),
        pytest.param(
            deciding.Turned,
            [{"name": "angle", "kind": "Float"}, {"name": "mirrored", "kind": "Bool"}],
            1,
            id="functions of math",
        ),
        pytest.param(
            deciding.Exits,
            [
                {"name": "depth", "kind": "Int", "range": [1, 3]},
                {"name": "rectified", "kind": "Bool"},
            ],
            5,
            id="a number of layers",
        ),
    ],
)
def test_numbers_that_python_reads_decide(
    factory: type[torch.nn.Module],
    numbers: Sequence[Mapping[str, Any]],
    decisions: int,
    tmp_path: Path,
) -> None:
    task, converted = exported(factory, tmp_path, numbers=numbers)
    assert converted.op_counts["If"] == decisions
    assert verify_model(task, converted, silent).summary.verdict is Verdict.VERIFIED


def test_what_paths_have_in_common_is_computed_once(tmp_path: Path) -> None:
    _, converted = exported(deciding.Nested, tmp_path)
    graph = onnx.load(converted.model_path).graph
    assert converted.op_counts["Gemm"] == 1
    assert [node.op_type for node in graph.node].count("Gemm") == 1


def test_declared_names_are_those_of_the_file(tmp_path: Path) -> None:
    _, converted = exported(deciding.Rotation, tmp_path)
    assert [value.name for value in converted.inputs] == ["x"]
    assert [value.name for value in converted.outputs] == ["y"]


def test_loops_that_end_by_values_are_refused_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match=r"more than 16 paths.*deciding\.py:\d+") as caught:
        exported(deciding.UntilSmall, tmp_path)
    assert caught.value.reason is Reason.CAPTURE_FAILED


def test_sides_of_other_types_are_refused_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match=r"deciding\.py:\d+.*another type or rank"):
        exported(deciding.OtherType, tmp_path)


def test_a_model_without_decisions_is_not_for_this_route(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match="no branch on the values"):
        exported(sized.Share, tmp_path, "sized")
