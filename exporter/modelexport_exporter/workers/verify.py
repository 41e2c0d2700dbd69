"""Verification worker: compares the artifact in onnxruntime with eager PyTorch.

Runs in a child process.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, suppress
from dataclasses import replace

import torch

from modelexport_api.spec import Mode
from modelexport_api.status import Stage, Verdict
from modelexport_exporter.blame.record_onnx import Runtime
from modelexport_exporter.core.machine import free_large_blocks_at_once
from modelexport_exporter.core.types import (
    ROUTES,
    ConvertedModel,
    ExportTask,
    ReportProgress,
    VerificationOutcome,
)
from modelexport_exporter.diagnosis.explain import explaining, find_pitfalls
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.sampling.lookups import Lookups
from modelexport_exporter.verification.dependent_outputs import check_not_random
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.reference_model import ReferenceModel, load_reference_model
from modelexport_exporter.verification.samples.find_lookups import find_lookups
from modelexport_exporter.verification.samples.sample_source import SampleSource, samples_of_task
from modelexport_exporter.workers.one_verification import Verification


@older_torch()
def verify_model(
    task: ExportTask,
    converted: ConvertedModel,
    progress: ReportProgress,
    model: ReferenceModel | None = None,
) -> VerificationOutcome:
    """Compare both on every sample that the budget allows. Raises ExportFailure.

    `model`: the original one, if it is loaded and was not called yet.
    """
    started = time.monotonic()
    free_large_blocks_at_once()
    if model is None:
        progress(Stage.VERIFY, 0.0, "loading the original module")
        model = load_reference_model(task, _as_verification(progress))
    module, bound_inputs, reference = model.module, model.bound_inputs, model.reference
    samples = samples_of_task(task, bound_inputs.spec, converted, module)
    samples = replace(samples, lookups=_lookups(converted, samples, reference))
    with explaining(module, bound_inputs, task.code_dir):
        bound = replace(task, spec=bound_inputs.spec)
        run = Verification(bound, converted, model, samples)
        run.over_all_samples(progress)
        if run.settle_shapes():
            converted = run.shapes.converted
            del run  # two sessions at once would take twice the memory
            run = Verification(bound, converted, model, samples)
            run.over_all_samples(progress)
            run.check_shapes()
    outcome = run.outcome(time.monotonic() - started)
    if outcome.summary.verdict is Verdict.VERIFIED:
        check_not_random(converted.model_path, converted.op_counts)
        return outcome
    pitfalls = find_pitfalls(
        module,
        bound_inputs,
        task.code_dir,
        not_deterministic=outcome.not_deterministic,
    )
    if outcome.summary.verdict is not Verdict.MISMATCH:
        return replace(outcome, pitfalls=pitfalls)
    progress(Stage.VERIFY, 1.0, "searching for the first node that differs")
    blame = run.smallest_failure.blame(
        module,
        bound_inputs.call,
        converted.model_path,
        Runtime(model.provider, model.plugins.session_setup()),
        device=reference.device,
        code_dir=task.code_dir,
        weights=reference.weights(converted.weight_inputs),
    )
    if blame is not None and task.spec.mode is Mode.EXPORT:
        plugin = model.plugins.translator_of(blame.aten, ROUTES[task.rung])
        blame = replace(blame, plugin=plugin)
    return replace(outcome, pitfalls=pitfalls, blame=blame)


def _lookups(
    converted: ConvertedModel, samples: SampleSource, reference: EagerReference
) -> tuple[Lookups, ...]:
    """Return the rows of tables that differ from the model's."""

    def run_eager(watching: AbstractContextManager[object]) -> None:
        # A model that fails on its own inputs is reported where it is compared.
        with suppress(Exception):
            values = reference.values(samples.arrays(samples.plan()[0]))
            with torch.no_grad(), watching:
                reference.call(values)

    state = reference.state()
    return find_lookups(converted.model_path, state, samples.spec.inputs, run_eager)


def _as_verification(progress: ReportProgress) -> ReportProgress:
    """Return a reporter for the second load of the model, as a part of this stage."""
    return lambda _stage, _fraction, message: progress(Stage.VERIFY, 0.0, message)
