"""Files that are wrong at few inputs or sizes only, and delicate ones that are correct."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import numpy_helper, parser

from modelexport_api.status import Verdict
from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from modelexport_exporter.verification.samples import time_shares
from modelexport_exporter.workers import one_verification
from modelexport_exporter.workers.verify import verify_model
from models.catalog import RealModel, small_model
from models.exporting import convert, forget_user_code, silent, task_for

CODE = Path(__file__).parents[2] / "models" / "code" / "damaged.py"
WRONG = "wrong = Mul({out}, nearly); {new} = Where(when, wrong, {out})"
"""One percent off where `when` is true."""


@pytest.fixture(autouse=True)
def _one_test_is_one_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(one_verification, "TIME_BUDGET_SECONDS", 600.0)
    monkeypatch.setattr(time_shares, "EVERY_SIZE_SECONDS", 1.0)
    monkeypatch.setattr(time_shares, "EACH_INTEGER_SECONDS", 5.0)
    yield
    forget_user_code()


def model_of(name: str, *inputs: dict[str, Any], **dims: tuple[int, int]) -> RealModel:
    return small_model(CODE, name, *inputs, **dims)


def floats(name: str, *shape: int | str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"name": name, "shape": list(shape), "dtype": "float32", **fields}


def ids(name: str) -> dict[str, Any]:
    return {"name": name, "shape": ["n"], "dtype": "int64", "range": [0, 49_999]}


SCORES = model_of("Scores", floats("x", "n", 6), n=(1, 40))
EDGES = model_of("Edges", floats("x", "n"), n=(1, 40))
DISTANCE = model_of("Distance", floats("a", "n", 4), floats("b", "n", 4), n=(1, 40))
RATINGS = model_of("Ratings", ids("user"), ids("item"), n=(1, 400))
DAYS = model_of(
    "Days",
    {"name": "t", "shape": ["n"], "dtype": "float64", "range": [1.6e9, 1.9e9]},
    n=(1, 40),
)
MEANS = model_of("Means", floats("x", "n", 1, "h", "w"), n=(1, 3), h=(4, 64), w=(4, 64))
LONG = model_of("Means", floats("x", "n", "c", 2, 2), n=(1, 3), c=(1, 4000))


BUCKETS = model_of("Buckets", floats("x", "n"), n=(1, 40))
STACKED = model_of("Stacked", floats("x", "n", 4), n=(1, 40))
FRAMES = model_of("Frames", floats("x", "n", 3, "h", 16, range=[0, 1]), n=(1, 3), h=(16, 32))


@dataclass(frozen=True)
class Wrong:
    """Nodes that make the first output wrong; `constants`: what they read."""

    model: RealModel
    nodes: str
    constants: dict[str, Any]

    def damage(self, proto: onnx.ModelProto) -> None:
        """Put the nodes before the output."""
        graph, name = proto.graph, proto.graph.output[0].name
        for node in graph.node:
            node.output[:] = [f"{out}_old" if out == name else out for out in node.output]
            node.input[:] = [f"{out}_old" if out == name else out for out in node.input]
        text = f"{self.nodes}; {WRONG}".format(out=f"{name}_old", new=name)
        graph.node.extend(parser.parse_node(line.strip()) for line in text.split(";"))
        kind = graph.output[0].type.tensor_type.elem_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
        constants = {**self.constants, "nearly": np.array(0.99 if dtype.kind == "f" else 2, dtype)}
        graph.initializer.extend(
            numpy_helper.from_array(np.asarray(value), key) for key, value in constants.items()
        )


def single(value: float) -> Any:  # noqa: ANN401
    return np.float32(value)


SIZES = "h = Shape<start=2, end=3>(x); w = Shape<start=3, end=4>(x)"
DAMAGES = {
    "a threshold that arithmetic hides": Wrong(
        SCORES,
        "c = Gather<axis=1>(x, j); m = Mul(c, k); when = Greater(m, o)",
        {"j": np.array([4]), "k": single(0.004), "o": single(1)},
    ),
    "two strict conditions in a row": Wrong(
        SCORES,
        "c = Gather<axis=1>(x, j); p = Greater(c, k); e = Gather<axis=1>(x, i); q = Less(e, o);"
        "when = And(p, q)",
        {"j": np.array([4]), "i": np.array([1]), "k": single(2.9), "o": single(-3.1)},
    ),
    "a row whose sum is an integer": Wrong(
        SCORES,
        "s = ReduceSum<keepdims=1>(x, i); when = Equal(s, k)",
        {"i": np.array([1]), "k": single(5)},
    ),
    "an attribute": Wrong(
        SCORES,
        "t = ThresholdedRelu<alpha=70.5>(x); c = Gather<axis=1>(t, j); when = Greater(c, o)",
        {"j": np.array([2]), "o": single(0)},
    ),
    "points that nearly coincide": Wrong(
        DISTANCE,
        "d = Sub(a, b); e = Abs(d); s = ReduceSum<keepdims=0>(e, i); t = Less(s, k);"
        "u = Greater(s, o); when = And(t, u)",
        {"i": np.array([1]), "k": single(1e-3), "o": single(0)},
    ),
    "an id that a product hides": Wrong(
        RATINGS,
        "m = Mul(user, k); r = Mod(m, p); when = Equal(r, q)",
        {"k": np.array(7919), "p": np.array(50_021), "q": np.array(31_337 * 7919 % 50_021)},
    ),
    "equal ids": Wrong(
        RATINGS,
        "e = Equal(user, item); g = Greater(user, k); when = And(e, g)",
        {"k": np.array(1)},
    ),
    "whole days": Wrong(DAYS, "d = Mul({out}, k); when = Equal(d, t)", {"k": np.array(86_400.0)}),
    "two sizes together": Wrong(
        MEANS,
        f"{SIZES}; p = Equal(h, k); q = Equal(w, o); when = And(p, q)",
        {"k": np.array([41]), "o": np.array([53])},
    ),
    "a size that is twice another": Wrong(MEANS, f"{SIZES}; d = Add(h, h); when = Equal(d, w)", {}),
    "the sum of two sizes": Wrong(
        MEANS, f"{SIZES}; d = Add(h, w); when = Equal(d, k)", {"k": np.array([123])}
    ),
    "the difference of two sizes": Wrong(
        MEANS, f"{SIZES}; d = Sub(w, h); when = Equal(d, k)", {"k": np.array([57])}
    ),
    "the remainder of a product of sizes": Wrong(
        MEANS,
        f"{SIZES}; d = Mul(w, h); r = Mod(d, p); when = Equal(r, k)",
        {"p": np.array([997]), "k": np.array([11])},
    ),
    "a number of elements": Wrong(
        MEANS, "s = Size(x); when = Equal(s, k)", {"k": np.array(59 * 61 * 2)}
    ),
    "a size that is computed before it is compared": Wrong(
        LONG,
        "h = Shape<start=1, end=2>(x); m = Mul(h, q); r = Mod(m, p); when = Equal(r, k)",
        {"q": np.array([7919]), "p": np.array([10_007]), "k": np.array([1937 * 7919 % 10_007])},
    ),
}


@pytest.mark.parametrize("wrong", DAMAGES.values(), ids=DAMAGES.keys())
def test_what_is_wrong_at_few_inputs_is_found(tmp_path: Path, wrong: Wrong) -> None:
    task = task_for(wrong.model, tmp_path)
    outcome = verify_model(task, convert(task, damage=wrong.damage), silent)
    assert outcome.summary.verdict is Verdict.MISMATCH


def strict_edge(proto: onnx.ModelProto) -> None:
    next(node for node in proto.graph.node if node.op_type == "GreaterOrEqual").op_type = "Greater"


def lost_limit(proto: onnx.ModelProto) -> None:
    for tensor in proto.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and tensor.dims == []:
            tensor.CopyFrom(numpy_helper.from_array(np.array(1e-3, np.float32), tensor.name))


def not_less(proto: onnx.ModelProto) -> None:
    """NaN is not less than a number, and not at least as large either."""
    node = next(node for node in proto.graph.node if node.op_type == "GreaterOrEqual")
    output, node.op_type, node.output[0] = node.output[0], "Less", "less"
    proto.graph.node.append(onnx.helper.make_node("Not", ["less"], [output]))


def complement_added(proto: onnx.ModelProto) -> None:
    next(node for node in proto.graph.node if node.op_type == "Sub").op_type = "Add"


def never_dark(proto: onnx.ModelProto) -> None:
    next(node for node in proto.graph.node if node.op_type == "And").op_type = "Xor"


@pytest.mark.parametrize(
    ("model", "damage"),
    [
        pytest.param(EDGES, strict_edge, id="edge"),
        pytest.param(DISTANCE, lost_limit, id="limit"),
        pytest.param(BUCKETS, not_less, id="NaN beside an integer of it"),
        pytest.param(STACKED, complement_added, id="a small part of a stack"),
        pytest.param(FRAMES, never_dark, id="a band of a mean"),
    ],
)
def test_operators_that_are_wrong_at_few_inputs_are_found(
    tmp_path: Path, model: RealModel, damage: Callable[[onnx.ModelProto], None]
) -> None:
    task = task_for(model, tmp_path)
    converted = convert(task)
    assert verify_model(task, converted, silent).summary.verdict is Verdict.VERIFIED
    proto = onnx.load(converted.model_path)
    damage(proto)
    onnx.save(proto, converted.model_path)
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.MISMATCH


@pytest.mark.parametrize(
    "model",
    [
        model_of("LongSums", floats("x", "n", "t", range=[0, 255]), n=(1, 2), t=(2, 262_144)),
        model_of("Groups", floats("x", "n", 1, 32, 32, range=[0, 1]), n=(1, 3)),
    ],
    ids=["long sums", "constant groups"],
)
def test_delicate_sums_of_correct_files_are_accepted(tmp_path: Path, model: RealModel) -> None:
    task = task_for(model, tmp_path)

    def in_stages(proto: onnx.ModelProto) -> None:
        whole = ir.serde.deserialize_model(proto)
        proto.CopyFrom(
            ir.serde.serialize_model(avoid_inexact_kernels(whole, Declared.of(task.spec)))
        )

    outcome = verify_model(task, convert(task, damage=in_stages), silent)
    assert outcome.first_problem is None
    assert outcome.summary.verdict is Verdict.VERIFIED
