"""Verification end to end: real models exported by torch.onnx, intact and damaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
import torchvision
from onnx import numpy_helper
from safetensors.torch import save_file

from modelexport_api.reasons import Reason
from modelexport_api.spec import Provider
from modelexport_api.status import Verdict
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.sample import NOT_FINITE, Values
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.plugins.runtime import SessionSetup
from modelexport_exporter.sampling.draw import draw
from modelexport_exporter.verification.runtime import prepacking
from modelexport_exporter.verification.runtime.session import Session
from modelexport_exporter.verification.samples import time_shares
from modelexport_exporter.verification.samples.met_arrays import MetArrays
from modelexport_exporter.verification.samples.sizes import more_samples, plan_samples
from modelexport_exporter.verification.verdict import describe_mismatch
from modelexport_exporter.workers import one_verification
from modelexport_exporter.workers import verify as verify_worker
from modelexport_exporter.workers.verify import verify_model
from models import catalog
from models.catalog import RealModel
from models.exporting import Damage, convert, describe, forget_user_code, silent, task_for


@pytest.fixture(autouse=True)
def _one_test_is_one_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget user code between tests, and let no busy machine leave samples out."""
    monkeypatch.setattr(one_verification, "TIME_BUDGET_SECONDS", 600.0)
    monkeypatch.setattr(time_shares, "MORE_WITHIN_SECONDS", 600.0)
    monkeypatch.setattr(time_shares, "LIKELY_SIZES_SECONDS", -1.0)
    monkeypatch.setattr(time_shares, "EVERY_SIZE_SECONDS", -1.0)
    yield
    forget_user_code()


def verify(task: ExportTask, converted: ConvertedModel) -> VerificationOutcome:
    return verify_model(task, converted, silent)


@pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "torchscript"])
def test_trained_network_verifies(tmp_path: Path, dynamo: bool) -> None:
    task = task_for(catalog.DIGITS, tmp_path)
    outcome = verify(task, convert(task, dynamo=dynamo))
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert outcome.summary.provider == "CPU"
    assert outcome.summary.tolerance_source == "Calibrated"
    assert outcome.summary.max_noise is not None
    assert 0 < outcome.summary.max_noise < 1e-6
    # Pixels have a range, and there is one input of floats.
    skipped = {Values.INJECTED, Values.LIMITS, Values.FAR, Values.ALIKE, *NOT_FINITE}
    planned = (*plan_samples(task.spec), *more_samples(task.spec))
    met = MetArrays()  # the lowest pixels are zeros
    ran = [
        sample
        for sample in planned
        if sample.values not in skipped and met.is_new(draw(task.spec.inputs, sample))
    ]
    assert outcome.summary.samples == len(outcome.samples) == len(ran)
    assert {sample.dims["batch"] for sample in outcome.samples} == {1, 33, 64, *range(7, 15)}
    others = {
        Values.GOLDEN,
        Values.SAMPLER,
        Values.SOUGHT,
        Values.NAMED,
        Values.SCALED,
        Values.EACH,
        Values.LOOKUPS,
    }
    assert {sample.values for sample in outcome.samples} == set(Values) - others - skipped
    assert 0 < outcome.summary.max_rel_error < 1e-5
    assert outcome.left_out == ()
    assert outcome.first_problem is None


UPSAMPLING = replace(
    catalog.DIVIDED_POOL,
    factory="torch.nn:Upsample",
    kwargs={"scale_factor": 2.7, "mode": "bilinear"},
    inputs=[{"name": "x", "shape": ["batch", 3, "height", 65]}],
    dims={"batch": {"min": 1, "max": 3}, "height": {"min": 40, "max": 300}},
    write=lambda path: save_file({}, path),
    checkpoint_name="checkpoint.safetensors",
)
RESNET = replace(
    catalog.DIVIDED_POOL,
    factory="torchvision.models:resnet18",
    inputs=[{"name": "x", "shape": ["batch", 3, "height", 80]}],
    dims={"batch": {"min": 1, "max": 3}, "height": {"min": 64, "max": 160}},
    write=catalog.initialised(torchvision.models.resnet18),
)


@pytest.mark.parametrize("model", [UPSAMPLING, RESNET], ids=["bilinear upsampling", "resnet18"])
def test_rounding_error_of_correct_models_is_accepted(tmp_path: Path, model: RealModel) -> None:
    task = task_for(model, tmp_path)
    outcome = verify(task, convert(task, dynamo=False))
    assert outcome.first_problem is None
    assert outcome.summary.verdict is Verdict.VERIFIED


@pytest.mark.nightly
def test_large_model_is_verified_without_prepacking_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepacking, "LARGE_MODEL_BYTES", 1 << 20)
    opened: list[bool] = []

    def opening(path: Path, provider: Provider, *, prepack: bool, setup: SessionSetup) -> Session:
        opened.append(prepack)
        return Session(path, provider, prepack=prepack, setup=setup)

    monkeypatch.setattr(verify_worker, "Session", opening)
    task = task_for(catalog.MINILM, tmp_path)
    outcome = verify(task, convert(task, external=True))
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert opened == [False]
    assert "disable_prepacking" in outcome.left_out[0]
    assert {tuple(sample.dims.values()) for sample in outcome.samples} >= {(1, 1), (8, 1), (1, 128)}
    assert outcome.summary.max_rel_error < 2e-5


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(catalog.MINILM, marks=pytest.mark.nightly, id="MiniLM"),
        pytest.param(RESNET, id="resnet18"),
    ],
)
def test_prepacking_changes_outputs_by_rounding_only(tmp_path: Path, model: RealModel) -> None:
    """Large models are verified without prepacking, although production runs with it."""
    task = task_for(model, tmp_path)
    path = convert(task, external=True).model_path
    with_it, without = (Session(path, Provider.CPU, prepack=prepack) for prepack in (True, False))
    for sample in plan_samples(task.spec):
        arrays = draw(task.spec.inputs, sample)
        pairs = zip(with_it.run(arrays, ""), without.run(arrays, ""), strict=True)
        for one, other in pairs:
            assert np.abs(one - other).max() <= 4e-6 * np.abs(one).max()


def flip_a_weight(model: onnx.ModelProto) -> None:
    tensor = _largest(model)
    values = numpy_helper.to_array(tensor).copy()
    place = np.unravel_index(np.argmax(np.abs(values)), values.shape)
    values[place] = -values[place]
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def transpose_a_weight(model: onnx.ModelProto) -> None:
    tensor = next(
        item
        for item in model.graph.initializer
        if len(item.dims) == 4 and item.dims[2] == item.dims[3] == 3
    )
    values = numpy_helper.to_array(tensor).swapaxes(2, 3)
    tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(values), tensor.name))


def drop_a_bias(model: onnx.ModelProto) -> None:
    node = next(node for node in model.graph.node if node.op_type == "Gemm")
    del node.input[2:]


def swap_the_activation(model: onnx.ModelProto) -> None:
    next(node for node in model.graph.node if node.op_type == "Relu").op_type = "Elu"


def _largest(model: onnx.ModelProto) -> onnx.TensorProto:
    tensors: list[onnx.TensorProto] = list(model.graph.initializer)
    return max(tensors, key=lambda item: int(np.prod(item.dims)))


@pytest.mark.parametrize(
    "damage", [flip_a_weight, transpose_a_weight, drop_a_bias, swap_the_activation]
)
def test_damaged_file_is_a_mismatch(tmp_path: Path, damage: Damage) -> None:
    task = task_for(catalog.DIGITS, tmp_path)
    outcome = verify(task, convert(task, damage=damage))
    assert outcome.summary.verdict is Verdict.MISMATCH
    assert outcome.first_problem is not None
    assert outcome.summary.max_rel_error > 1e-3
    message, hint = describe_mismatch(outcome)
    assert "output logits at batch=" in message
    assert "eager returns" in message
    assert "allowed" in message
    assert "write the operation with other operators" in hint


def test_input_size_fixed_by_the_export_fails_at_run_time(tmp_path: Path) -> None:
    task = task_for(catalog.DIGITS, tmp_path)
    converted = convert(task, dynamic=False)
    with pytest.raises(ExportFailure, match=r"at batch=1 .*normal.*: .*dimension") as caught:
        verify(task, converted)
    assert caught.value.reason is Reason.RUNTIME_FAILED


def test_size_baked_into_the_graph_is_a_mismatch(tmp_path: Path) -> None:
    """A mean that divides by the capture's batch size is wrong at every other size."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "fixed_size.py").write_text(
        "import torch\n"
        "class Mean(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.linear = torch.nn.Linear(8, 8)\n"
        "    def forward(self, x):\n"
        "        return self.linear(x).sum(0) / int(x.shape[0])\n"
    )
    model = replace(catalog.SCALED_ELU, factory="fixed_size:Mean", code=code / "fixed_size.py")
    task = task_for(model, tmp_path)
    outcome = verify(task, convert(task, dynamo=False))
    assert outcome.summary.verdict is Verdict.MISMATCH
    assert next(sample for sample in outcome.samples if sample.differs).dims["batch"] != 3


@pytest.mark.parametrize(
    ("model", "dynamo"),
    [
        pytest.param(catalog.SCALED_ELU, True, id="elu with scale, dynamo"),
        pytest.param(catalog.DIVIDED_POOL, True, id="avg_pool2d with divisor_override, dynamo"),
        pytest.param(catalog.DIVIDED_POOL, False, id="the same, torchscript"),
    ],
)
def test_silent_conversion_errors_of_torch_are_mismatches(
    tmp_path: Path, model: RealModel, dynamo: bool
) -> None:
    task = task_for(model, tmp_path)
    outcome = verify(task, convert(task, dynamo=dynamo))
    assert outcome.summary.verdict is Verdict.MISMATCH
    assert outcome.summary.max_rel_error > 0.1


def test_random_model_is_reported_as_not_deterministic(tmp_path: Path) -> None:
    task = task_for(catalog.RANDOM, tmp_path)
    outcome = verify(task, convert(task))
    message, hint = describe_mismatch(outcome)
    assert "eager PyTorch differs from itself" in message
    assert "Make the model deterministic" in hint


def test_sizes_that_the_model_refuses_are_an_inputs_mismatch(tmp_path: Path) -> None:
    longer = {"batch": {"min": 1, "max": 2}, "seq": {"min": 1, "max": 700}}  # positions end at 512
    task = task_for(replace(catalog.MINILM, dims=longer), tmp_path)
    short = task_for(catalog.MINILM, tmp_path)
    converted = convert(short, external=True)
    with pytest.raises(ExportFailure, match="original model fails at batch=1, seq=700") as caught:
        verify(task, converted)
    assert caught.value.reason is Reason.INPUTS_MISMATCH
    assert "Set dims.seq.max: 512." in caught.value.hint


def test_tolerance_of_the_spec_takes_precedence(tmp_path: Path) -> None:
    strict = {"tolerance": {"rtol": 0, "atol": 1e-9}}
    task = task_for(catalog.DIGITS, tmp_path, verification=strict)
    outcome = verify(task, convert(task))
    assert outcome.summary.verdict is Verdict.MISMATCH
    assert outcome.summary.tolerance_source == "Spec"
    problem = outcome.samples[0].outputs[0].problem
    assert problem is not None
    assert "allowed 1e-09" in problem.text


def test_samples_beyond_the_budget_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = task_for(catalog.DIGITS, tmp_path)
    converted = convert(task)
    monkeypatch.setattr(one_verification, "TIME_BUDGET_SECONDS", 0.0)
    outcome = verify(task, converted)
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert {sample.dims["batch"] for sample in outcome.samples} == {1}
    assert any("batch=64 (normal values): would take" in item for item in outcome.left_out)
    assert any("batch=7 (zeros values): would take" in item for item in outcome.left_out)
    planned = [s for s in plan_samples(task.spec) if s.values not in NOT_FINITE]
    assert len(outcome.samples) + len(outcome.left_out) == len(planned)


def test_file_that_cannot_be_loaded_is_a_runtime_failure(tmp_path: Path) -> None:
    task = task_for(catalog.DIGITS, tmp_path)
    path = task.output_dir / "model.onnx"
    path.write_bytes(b"no protobuf at all")
    with pytest.raises(ExportFailure, match="cannot load the exported file") as caught:
        verify(task, describe(path))
    assert caught.value.reason is Reason.RUNTIME_FAILED


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_missing_gpu_is_provider_unavailable(tmp_path: Path) -> None:
    task = task_for(catalog.DIGITS, tmp_path, verification={"provider": "CUDA"})
    with pytest.raises(ExportFailure, match="torch sees no GPU") as caught:
        verify(task, convert(task))
    assert caught.value.reason is Reason.PROVIDER_UNAVAILABLE
