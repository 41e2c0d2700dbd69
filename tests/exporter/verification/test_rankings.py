"""Equal values: their order is not specified by torch, and nothing else is excused with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
import torch
from onnx import helper

from modelexport_api.status import Verdict
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.workers.verify import verify_model
from models import catalog
from models.catalog import RealModel, initialised
from models.exporting import Damage, convert, forget_user_code, silent, task_for
from seeds.code import ordinary


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    forget_user_code()
    sys.modules.pop("ordinary", None)


def model(factory: type[torch.nn.Module]) -> RealModel:
    return replace(
        catalog.SINE,
        name=factory.__name__,
        factory=f"ordinary:{factory.__name__}",
        code=Path(ordinary.__file__),
        inputs=[{"name": "x", "shape": ["batch", 16], "range": [-9, 9]}],
        dims={"batch": {"min": 1, "max": 16}},
        write=initialised(factory),
    )


def verified(path: Path, factory: type[torch.nn.Module], damage: Damage) -> VerificationOutcome:
    task = task_for(model(factory), path)
    return verify_model(task, convert(task, damage=damage), silent)


def sort_values(proto: onnx.ModelProto) -> None:
    for node in proto.graph.node:
        kept = [attribute for attribute in node.attribute if attribute.name != "sorted"]
        node.ClearField("attribute")
        node.attribute.extend(kept)


def forget_equal_places(proto: onnx.ModelProto) -> None:
    """Let places be zero in rows whose ranked values are all equal."""
    sort_values(proto)
    node = next(node for node in proto.graph.node if node.op_type == "TopK")
    values, places = node.output
    node.output[1] = "sorted_places"
    axis = helper.make_node("Constant", [], ["last"], value_ints=[-1])
    proto.graph.node.extend(
        [
            axis,
            helper.make_node("ReduceMax", [values, "last"], ["high"]),
            helper.make_node("ReduceMin", [values, "last"], ["low"]),
            helper.make_node("Equal", ["high", "low"], ["all_equal"]),
            helper.make_node("Not", ["all_equal"], ["distinct"]),
            helper.make_node("Cast", ["distinct"], ["factor"], to=onnx.TensorProto.INT64),
            helper.make_node("Mul", ["sorted_places", "factor"], [places]),
        ]
    )


def test_order_of_equal_values_is_that_of_onnx(tmp_path: Path) -> None:
    outcome = verified(tmp_path, ordinary.SparseScores, sort_values)
    assert outcome.summary.verdict is Verdict.VERIFIED
    reordered = [sample.label for sample in outcome.samples if sample.reordered]
    assert "normal, equal values in ONNX's order" in reordered


def test_other_errors_on_equal_values_are_not_excused(tmp_path: Path) -> None:
    outcome = verified(tmp_path, ordinary.SparseScores, forget_equal_places)
    assert outcome.summary.verdict is Verdict.MISMATCH
