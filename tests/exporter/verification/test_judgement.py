"""Difficult verdicts: near ties, ill-conditioned models, golden samples, samplers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper
from safetensors.torch import save_file

from modelexport_api.reasons import Reason
from modelexport_api.status import Verdict
from modelexport_exporter.call import bind_inputs
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.sample import Values
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.verification.samples import time_shares
from modelexport_exporter.verification.verdict import describe_ill_conditioned, describe_mismatch
from modelexport_exporter.workers import one_verification
from modelexport_exporter.workers.verify import verify_model
from models import catalog
from models.catalog import CODE, RealModel, initialised
from models.code import judged
from models.exporting import Damage, convert, forget_user_code, silent, task_for


@pytest.fixture(autouse=True)
def _one_test_is_one_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(one_verification, "TIME_BUDGET_SECONDS", 600.0)
    monkeypatch.setattr(time_shares, "MORE_WITHIN_SECONDS", 600.0)
    monkeypatch.setattr(time_shares, "LIKELY_SIZES_SECONDS", -1.0)
    monkeypatch.setattr(time_shares, "EVERY_SIZE_SECONDS", -1.0)
    yield
    forget_user_code()
    for name in ("judged", "my_samples"):
        sys.modules.pop(name, None)


def model(factory: type[torch.nn.Module], **changes: Any) -> RealModel:  # noqa: ANN401
    return replace(
        catalog.SINE,
        name=factory.__name__,
        factory=f"judged:{factory.__name__}",
        code=CODE / "judged.py",
        inputs=[{"name": "x", "shape": ["batch", 8]}],
        dims={"batch": {"min": 1, "max": 64}},
        write=initialised(factory),
        **changes,
    )


def verified(
    task: ExportTask,
    damage: Damage | None = None,
    **convert_with: Any,  # noqa: ANN401
) -> VerificationOutcome:
    return verify_model(task, convert(task, damage=damage, **convert_with), silent)


def test_cancellation_is_ill_conditioned(tmp_path: Path) -> None:
    outcome = verified(task_for(model(judged.Cancelling), tmp_path))
    assert outcome.summary.verdict is Verdict.ILL_CONDITIONED
    message, hint = describe_ill_conditioned(outcome)
    assert "elements change with rounding" in message
    assert "verification.sampler" in hint


def test_ranking_of_rounding_errors_is_ill_conditioned(tmp_path: Path) -> None:
    outcome = verified(task_for(model(judged.NearTies), tmp_path))
    assert outcome.summary.verdict is Verdict.ILL_CONDITIONED


def test_inconclusive_samples_do_not_affect_verdict(tmp_path: Path) -> None:
    outcome = verified(task_for(model(judged.SometimesConstant), tmp_path))
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert outcome.summary.max_rel_error < 1e-3


@pytest.mark.parametrize("wrong", [False, True], ids=["right", "NaN is not replaced"])
def test_nan_is_injected_where_the_model_handles_it(tmp_path: Path, wrong: bool) -> None:
    def forget_nan(proto: onnx.ModelProto) -> None:
        node = next(node for node in proto.graph.node if node.op_type == "IsNaN")
        node.op_type = "IsInf"

    task = task_for(model(judged.FillsGaps), tmp_path)
    outcome = verified(task, forget_nan if wrong else None)
    assert outcome.summary.verdict is (Verdict.MISMATCH if wrong else Verdict.VERIFIED)
    assert any(sample.values is Values.WITH_NAN for sample in outcome.samples)


@pytest.mark.parametrize("wrong", [False, True], ids=["right", "not < instead of >="])
def test_nan_that_the_model_computes_with_is_compared(tmp_path: Path, wrong: bool) -> None:
    def negate(proto: onnx.ModelProto) -> None:
        node = next(node for node in proto.graph.node if node.op_type == "GreaterOrEqual")
        opposite = onnx.helper.make_node("Not", ["less"], [node.output[0]])
        node.op_type, node.output[0] = "Less", "less"
        proto.graph.node.append(opposite)

    outcome = verified(task_for(model(judged.MarksPositive), tmp_path), negate if wrong else None)
    assert outcome.summary.verdict is (Verdict.MISMATCH if wrong else Verdict.VERIFIED)
    if wrong:
        assert "declare inputs[].range" in describe_mismatch(outcome)[1]


@pytest.mark.parametrize("wrong", [False, True], ids=["right", "> instead of >="])
def test_constants_of_comparisons_are_injected(tmp_path: Path, wrong: bool) -> None:
    def exclude(proto: onnx.ModelProto) -> None:
        node = next(node for node in proto.graph.node if node.op_type == "GreaterOrEqual")
        node.op_type = "Greater"

    task = task_for(model(judged.Threshold), tmp_path)
    outcome = verified(task, exclude if wrong else None)
    assert outcome.summary.verdict is (Verdict.MISMATCH if wrong else Verdict.VERIFIED)


OTHER_SIDE = {
    "Greater": "GreaterOrEqual",
    "GreaterOrEqual": "Greater",
    "LessOrEqual": "Less",
    "Less": "LessOrEqual",
}


@pytest.mark.parametrize("wrong", [None, *OTHER_SIDE])
def test_ends_of_conditions_are_met_where_the_others_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str | None
) -> None:
    monkeypatch.setattr(time_shares, "NAMED_SECONDS", 600.0)

    def decide_otherwise(proto: onnx.ModelProto) -> None:
        node = next(node for node in proto.graph.node if node.op_type == wrong)
        node.op_type = OTHER_SIDE[node.op_type]

    times = {"name": "t", "dtype": "int64", "shape": ["batch"], "range": [1.6e9, 1.8e9]}
    features = {"name": "x", "shape": ["batch", 8]}
    task = task_for(replace(model(judged.JointRule), inputs=[features, times]), tmp_path)
    outcome = verified(task, decide_otherwise if wrong else None)
    assert outcome.summary.verdict is (Verdict.MISMATCH if wrong else Verdict.VERIFIED)


@pytest.mark.parametrize("wrong", [False, True], ids=["right", "one bit of one row"])
def test_changed_row_of_a_large_table_is_looked_up(tmp_path: Path, wrong: bool) -> None:
    def flip(proto: onnx.ModelProto) -> None:
        (table,) = (item for item in proto.graph.initializer if list(item.dims) == [50_000, 8])
        values = numpy_helper.to_array(table).copy()
        values[31_337, 5] *= 2
        table.CopyFrom(numpy_helper.from_array(values, table.name))

    tokens = {"name": "ids", "dtype": "int64", "shape": ["batch"], "range": [0, 49_999]}
    task = task_for(replace(model(judged.Tokens), inputs=[tokens]), tmp_path)
    outcome = verified(task, flip if wrong else None)
    assert outcome.summary.verdict is (Verdict.MISMATCH if wrong else Verdict.VERIFIED)
    if wrong:
        assert {sample.values for sample in outcome.samples if sample.differs} - {Values.EACH} == {
            Values.LOOKUPS
        }


def recorded(task: ExportTask, path: Path, *, shift: float = 0.0) -> ExportTask:
    """Return the task with two golden samples, outputs included, recorded in a file."""
    module = judged.FillsGaps()
    module.load_state_dict(torch.load(task.checkpoint, weights_only=True))
    arrays: dict[str, torch.Tensor] = {}
    for name, rows in (("0", 2), ("1", 5)):
        x = torch.full((rows, 8), 0.25)
        arrays |= {f"{name}/x": x, f"{name}/y": module(x).detach() + shift}
    if path.suffix == ".npz":
        np.savez(path, **{name: value.numpy() for name, value in arrays.items()})  # type: ignore[arg-type]
    else:
        save_file(arrays, path)
    return replace(task, golden_inputs=path)


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_golden_samples_are_compared(tmp_path: Path, kind: str) -> None:
    task = recorded(task_for(model(judged.FillsGaps), tmp_path), tmp_path / f"golden.{kind}")
    outcome = verified(task)
    assert outcome.summary.verdict is Verdict.VERIFIED
    golden = [sample for sample in outcome.samples if sample.values is Values.GOLDEN]
    assert [(sample.label, sample.dims) for sample in golden] == [
        ("golden 0", {"batch": 2}),
        ("golden 1", {"batch": 5}),
    ]


def test_golden_outputs_that_eager_does_not_return_are_a_mismatch(tmp_path: Path) -> None:
    task = recorded(task_for(model(judged.FillsGaps), tmp_path), tmp_path / "g.npz", shift=0.01)
    outcome = verified(task)
    assert outcome.summary.verdict is Verdict.MISMATCH
    message, hint = describe_mismatch(outcome)
    assert "eager PyTorch does not return the golden output" in message
    assert "record them again" in hint


SAMPLER = """
import torch

def draw(dims, seed):
    generator = torch.Generator().manual_seed(seed)
    return {"x": torch.rand(dims["batch"], 8, generator=generator) + 3}

def wrong(dims, seed):
    return {"x": torch.zeros(2, 8)}

def fails(dims, seed):
    return {"x": torch.zeros(dims["rows"], 8)}
"""


def with_sampler(tmp_path: Path, name: str) -> ExportTask:
    task = task_for(
        model(judged.FillsGaps), tmp_path, verification={"sampler": f"my_samples:{name}"}
    )
    code = tmp_path / "code"
    code.mkdir()
    (code / "judged.py").write_text((CODE / "judged.py").read_text())
    (code / "my_samples.py").write_text(SAMPLER)
    return replace(task, code_dir=code)


def test_sampler_draws_all_samples(tmp_path: Path) -> None:
    outcome = verified(with_sampler(tmp_path, "draw"))
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert {sample.values for sample in outcome.samples} == {Values.SAMPLER}
    assert {sample.dims["batch"] for sample in outcome.samples} >= {1, 64, *range(7, 15)}


def test_sampler_draws_what_the_graph_is_captured_with(tmp_path: Path) -> None:
    task = with_sampler(tmp_path, "draw")
    bound = bind_inputs(task.spec, judged.FillsGaps(), task.code_dir)
    (example,), _ = bound.call.example(bound.sizes.captured)
    assert (example.shape[0], example.shape[1]) == (bound.sizes.captured["batch"], 8)
    assert example.min() >= 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wrong", r"returned float32 \[2, 8\] .* at batch=(\d+), expected float32 \[\1, 8\]"),
        ("fails", r"raised KeyError: .*rows.* at batch=\d+"),
    ],
)
def test_invalid_sampler_is_reported(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(ExportFailure, match=message) as caught:
        verified(with_sampler(tmp_path, name))
    assert caught.value.reason is Reason.SAMPLES_INVALID
