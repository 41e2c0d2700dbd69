"""All scores are equal on a black frame: only the order of equal scores is excused, no value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
import pytest
from onnx import helper

from exporter.verification.limited_models import CODE, entry, outcome
from modelexport_api.status import Verdict
from models.catalog import RealModel, small_model
from models.exporting import forget_user_code


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    forget_user_code()


DETECTOR = small_model(CODE, "Detector", entry("frame", 4, 4, range=[0, 1]))
RANKED = small_model(CODE, "Ranked", entry("x", "n", 12), n=(1, 40))


def wrong_where_all_is_equal(input_name: str, place: int) -> Callable[[onnx.ModelProto], None]:
    """Double an output where the input's largest number is not above zero."""

    def damage(proto: onnx.ModelProto) -> None:
        graph = proto.graph
        name = graph.output[place].name
        for node in graph.node:
            node.output[:] = [f"{out}_right" if out == name else out for out in node.output]
            node.input[:] = [f"{given}_right" if given == name else given for given in node.input]
        graph.node.extend(
            [
                helper.make_node("ReduceMax", [input_name], ["largest"], keepdims=0),
                helper.make_node("Sub", ["largest", "largest"], ["nothing"]),
                helper.make_node("LessOrEqual", ["largest", "nothing"], ["when"]),
                helper.make_node("Add", [f"{name}_right", f"{name}_right"], ["twice"]),
                helper.make_node("Where", ["when", "twice", f"{name}_right"], [name]),
            ]
        )

    return damage


@pytest.mark.parametrize(
    ("model", "input_name"),
    [(DETECTOR, "frame"), (RANKED, "x")],
    ids=["black frame", "zero scores"],
)
def test_values_of_equal_scores_are_compared(
    tmp_path: Path, model: RealModel, input_name: str
) -> None:
    damaged = outcome(model, tmp_path, wrong_where_all_is_equal(input_name, 0))
    assert damaged.summary.verdict is Verdict.MISMATCH


@pytest.mark.parametrize("model", [DETECTOR, RANKED], ids=["black frame", "zero scores"])
def test_the_right_file_is_verified(tmp_path: Path, model: RealModel) -> None:
    assert outcome(model, tmp_path, None).summary.verdict is Verdict.VERIFIED
