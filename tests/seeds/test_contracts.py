"""The shapes that a published file declares, for outputs whose shapes converters do not know.

What the file and the runtime declare has to be what runs return, at sizes that the verification
does not choose, and so has what a `Shape` node answers that a consumer appends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from seeds.case import Case, tensor
from seeds.feeds import feeds_for
from seeds.harness import Bench, Exported, fed, open_session

SCRIPTED = {"exporter": "TorchScript"}
X = tensor("x", "n", 4)
STREAMS = [tensor("x", "batch", 6), tensor("state", 2, "batch", 4), tensor("context", "batch", 2)]


@dataclass(frozen=True)
class Contract:
    """A case, and the shapes that its file has to declare."""

    case: Case
    declared: list[list[int | str]]


def contract(
    name: str,
    model: str,
    inputs: Sequence[Any],
    outputs: str,
    declared: list[list[int | str]],
    **options: Any,  # noqa: ANN401
) -> Contract:
    case = Case(
        "S15",
        name,
        f"contracts:{model}",
        inputs,
        outputs=outputs.split(),
        **{"dims": {"n": (1, 12)}, **options},
    )
    return Contract(case, declared)


CONTRACTS = (
    contract(
        "speech_step",
        "SpeechStep",
        STREAMS,
        "probability new_state new_context",
        [["batch", 1], [2, "batch", 4], ["batch", 2]],
        dims={"batch": (1, 12)},
        export=SCRIPTED,
    ),
    contract(
        "looped_state",
        "LoopedState",
        [tensor("x", "batch", "n")],
        "state doubled",
        [["batch", "state_dim_1"], ["batch", "n"]],
        dims={"batch": (1, 12), "n": (1, 8)},
    ),
    contract(
        "repeats_in_a_loop",
        "Repeats",
        [X],
        "twice more",
        [["2*n", "twice_dim_1"], ["2*n + 1", 4]],
    ),
    contract(
        "branch_of_other_shape",
        "BranchOfOtherShape",
        [X],
        "y",
        [["y_dim_0", 4]],
        dims={"n": (2, 12)},
    ),
    contract(
        "joined_in_a_loop",
        "JoinedInALoop",
        [X, tensor("y", "m", 4)],
        "joined",
        [["n + m", "joined_dim_1"]],
        dims={"n": (1, 12), "m": (1, 12)},
    ),
    contract(
        "as_many_as_positive",
        "Positive",
        [X],
        "found more",
        [["found_dim_0", 2], ["n", 4]],
        export=SCRIPTED,
    ),
    contract(
        "rows_found",
        "Found",
        [X],
        "rows places more",
        [["found", 4], ["found", 1], ["rest", 4]],
        spec={"outputShapes": {"rows": ["found", 4], "places": ["found", 1], "more": ["rest", 4]}},
    ),
    contract(
        "halves_and_products",
        "Halves",
        [X],
        "half wide flat",
        [["(n + 1)//2", 4], ["n", 8], ["4*n"]],
        export=SCRIPTED,
    ),
    contract(
        "squeezed_without_ones",
        "Squeezed",
        [X],
        "y flat",
        [["n"], ["4*n", 1]],
        dims={"n": (2, 12)},
        export=SCRIPTED,
    ),
    contract(
        "squeezed_with_ones",
        "Squeezed",
        [X],
        "y flat",
        [["..."], ["4*n", 1]],
        export=SCRIPTED,
    ),
)


@pytest.mark.parametrize(
    "contract", [pytest.param(entry, id=entry.case.name) for entry in CONTRACTS]
)
def test_declared_shapes_are_those_of_runs(contract: Contract, bench: Bench) -> None:
    exported = bench.check(contract.case)
    assert exported.result.artifact is not None
    assert [tensor.shape for tensor in exported.result.artifact.outputs] == contract.declared
    declared = [
        [dim.dim_param or dim.dim_value for dim in output.type.tensor_type.shape.dim]
        if output.type.tensor_type.HasField("shape")
        else ["..."]
        for output in onnx.load(exported.model_path).graph.output
    ]
    assert declared == contract.declared
    assert_true(exported, declared)


def assert_true(exported: Exported, declared: list[list[Any]]) -> None:
    """Run the file with a `Shape` node of each output, and compare all three."""
    names = list(exported.case.outputs)
    session = open_session(with_shape_nodes(exported.model_path))
    for feed in feeds_for(exported.case):
        answers = session.run(None, fed(session, feed))
        outputs, appended = answers[: len(names)], answers[len(names) :]
        sizes: dict[str, Any] = {
            dim: size
            for entry in exported.case.inputs
            for dim, size in zip(entry["shape"], feed[entry["name"]].shape, strict=True)
            if isinstance(dim, str)
        }
        for shape, output, answer in zip(declared, outputs, appended, strict=True):
            assert answer.tolist() == list(output.shape)
            if shape == ["..."]:
                continue
            for size, obtained in zip(shape, output.shape, strict=True):
                if str(size).isidentifier():
                    assert sizes.setdefault(size, obtained) == obtained
                else:
                    assert eval(str(size), dict(sizes)) == obtained


def with_shape_nodes(path: Path) -> Path:
    """Return a copy of the file that also returns the shape of each output."""
    model = onnx.load(path)
    for output in list(model.graph.output):
        name = f"shape_of_{output.name}"
        model.graph.node.append(onnx.helper.make_node("Shape", [output.name], [name]))
        int64 = onnx.TensorProto.INT64
        model.graph.output.append(onnx.helper.make_tensor_value_info(name, int64, None))
    copy = path.with_name("with-shapes.onnx")
    onnx.save(model, copy)
    return copy


def test_a_false_shape_decides_what_an_appended_node_answers(tmp_path: Path) -> None:
    """onnxruntime trusts the file: without this, the tests above could not fail."""
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["m"]), helper.make_node("Neg", ["m"], ["y"])],
        "false",
        [helper.make_tensor_value_info("x", float32, ["n", 4])],
        [helper.make_tensor_value_info("y", float32, ["n", 4])],
        value_info=[helper.make_tensor_value_info("m", float32, [3, 4])],
    )
    path = tmp_path / "model.onnx"
    opset = helper.make_opsetid("", 18)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=9), path)
    session = open_session(with_shape_nodes(path))
    output, answer = session.run(None, {"x": np.ones((5, 4), "f4")})
    assert output.shape == (5, 4)
    assert answer.tolist() == [3, 4]
