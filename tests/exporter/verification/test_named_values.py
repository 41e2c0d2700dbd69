"""Values that a model names: a file that has another one is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from exporter.verification.limited_models import CODE, entry, outcome
from modelexport_api.status import Verdict
from models.catalog import RealModel, small_model
from models.exporting import Damage, forget_user_code


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    forget_user_code()


def other_constant(old: int, new: int) -> Damage:
    """Replace an integer."""

    def damage(proto: onnx.ModelProto) -> None:
        held = [
            attribute.t
            for node in proto.graph.node
            for attribute in node.attribute
            if node.op_type == "Constant" and attribute.name == "value"
        ]
        changed = 0
        for tensor in (*held, *proto.graph.initializer):
            array = numpy_helper.to_array(tensor)
            if array.dtype.kind == "i" and array.size == 1 and array.reshape(-1)[0] == old:
                tensor.CopyFrom(numpy_helper.from_array(np.full_like(array, new), tensor.name))
                changed += 1
        assert changed, f"no constant is {old}"

    return damage


def halves_up(proto: onnx.ModelProto) -> None:
    """Round halves up in place of to the even number."""
    node = next(node for node in proto.graph.node if node.op_type == "Round")
    half = numpy_helper.from_array(np.array(0.5, np.float32), "half")
    proto.graph.initializer.append(half)
    place = list(proto.graph.node).index(node)
    proto.graph.node.insert(place, helper.make_node("Add", [node.input[0], "half"], ["raised"]))
    node.op_type, node.input[0] = "Floor", "raised"


def lost_steps(proto: onnx.ModelProto) -> None:
    """Replace what is rounded by zeros, and with it the number that it was divided by."""
    nodes = proto.graph.node
    rounded = next(node for node in nodes if node.op_type == "Round")
    divided = next(node for node in nodes if rounded.input[0] in node.output)
    assert divided.op_type == "Div"
    rounded.op_type, rounded.input[:] = "Sub", [divided.input[0]] * 2
    nodes.remove(divided)
    del proto.graph.initializer[:]


def doubled_where_size_is(size: int) -> Damage:
    """Double the output where the dim is of one size, which a constant beside Shape names."""

    def damage(proto: onnx.ModelProto) -> None:
        graph, name = proto.graph, proto.graph.output[0].name
        for node in graph.node:
            node.output[:] = [f"{out}_right" if out == name else out for out in node.output]
        graph.initializer.append(numpy_helper.from_array(np.array([size]), "named"))
        graph.node.extend(
            [
                helper.make_node("Shape", ["ids"], ["its_size"], start=0, end=1),
                helper.make_node("Equal", ["its_size", "named"], ["when"]),
                helper.make_node("Add", [f"{name}_right", f"{name}_right"], ["twice"]),
                helper.make_node("Where", ["when", "twice", f"{name}_right"], [name]),
            ]
        )

    return damage


def ids(*shape: int | str, high: int) -> dict[str, object]:
    return entry("ids", *shape, dtype="int64", range=[0, high])


MASKED = small_model(CODE, "Masked", ids("n", high=30_521), n=(1, 40))
LONG = small_model(CODE, "Masked", ids("n", high=30_521), n=(1, 4000))
RULES = small_model(CODE, "Rules", entry("x", "n", 2, dtype="int64", range=[0, 249]), n=(1, 40))
POOLS = small_model(CODE, "PoolsAtEnd", ids("n", 9, high=49_999), n=(1, 40))
FAR_STEPS = small_model(CODE, "FarSteps", entry("x", "n", 3), n=(1, 40))
HALF_STEPS = small_model(CODE, "HalfSteps", entry("x", "n", 3, dtype="float16"), n=(1, 40))
STEPS = small_model(CODE, "Steps", entry("x", "n", 3, range=[-100, 100]), n=(1, 40))

DAMAGES: dict[str, tuple[RealModel, Callable[[onnx.ModelProto], None]]] = {
    "103 for 102": (MASKED, other_constant(102, 103)),
    "a rule for country 118": (RULES, other_constant(117, 118)),
    "a rule for device 4": (RULES, other_constant(3, 4)),
    "another end of sequence": (POOLS, other_constant(49_407, 49_406)),
    "steps of 123,457": (FAR_STEPS, lost_steps),
    "steps of 5,000 in half precision": (HALF_STEPS, lost_steps),
    "halves per column": (STEPS, halves_up),
    "a size beside Shape": (LONG, doubled_where_size_is(2_731)),
}


@pytest.mark.parametrize(("model", "damage"), DAMAGES.values(), ids=DAMAGES.keys())
def test_another_value_is_found(
    tmp_path: Path, model: RealModel, damage: Callable[[onnx.ModelProto], None]
) -> None:
    assert outcome(model, tmp_path, damage).summary.verdict is Verdict.MISMATCH
