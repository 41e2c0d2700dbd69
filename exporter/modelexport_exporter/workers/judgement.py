"""The judgement of one file: the only code that decides whether it is verified.

Runs no code of the user: it draws the samples, runs onnxruntime, compares, and asks what the
original model returns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from modelexport_api.status import Stage, Verdict
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress
from modelexport_exporter.verification.checked_facts import inferred_ranges
from modelexport_exporter.verification.dependent_outputs import check_not_random
from modelexport_exporter.verification.original import Original
from modelexport_exporter.verification.runtime.opened import OpenFile
from modelexport_exporter.verification.samples.sample_source import SampleSource, samples_of_task
from modelexport_exporter.workers.one_verification import Verification


def judge_file(  # noqa: PLR0917 - what a judgement needs
    task: ExportTask,
    converted: ConvertedModel,
    original: Original,
    open_file: OpenFile,
    progress: ReportProgress,
    started: float,
    check_files: Callable[[], None] = lambda: None,
) -> VerificationOutcome:
    """Compare both on every sample that the budget allows. Raises ExportFailure.

    `started`: when the verification began, in `time.monotonic()` seconds. `check_files`: called
    when the file was read, before it is changed.
    """
    facts = original.facts
    spec = task.spec.model_copy(
        update={"inputs": list(facts.inputs), "outputs": list(facts.outputs)}
    )
    sampler = original.draw if spec.verification.sampler is not None else None
    samples = samples_of_task(task, spec, converted, facts.named, sampler)
    first = samples.arrays(samples.plan()[0])
    samples = replace(samples, lookups=original.lookups(converted.model_path, first))
    bound = replace(task, spec=spec)
    try:
        run, converted = _judged(
            bound, converted, original, samples, open_file, progress, check_files
        )
    except ExportFailure as failure:
        raise original.explained(failure) from failure.__cause__
    outcome = run.outcome(time.monotonic() - started)
    if sampler is None:
        outcome = _saying(outcome, inferred_ranges(task.spec.inputs, facts.inputs))
    if outcome.summary.verdict is Verdict.VERIFIED:
        check_not_random(converted.model_path, converted.op_counts)
        return outcome
    pitfalls = original.pitfalls(not_deterministic=outcome.not_deterministic)
    if outcome.summary.verdict is not Verdict.MISMATCH:
        return replace(outcome, pitfalls=pitfalls)
    progress(Stage.VERIFY, 1.0, "searching for the first node that differs")
    blame = run.smallest_failure.blame(original, converted)
    return replace(outcome, pitfalls=pitfalls, blame=blame)


def _saying(outcome: VerificationOutcome, sentences: Sequence[str]) -> VerificationOutcome:
    """Return the outcome with further sentences on what its samples covered."""
    coverage = [*outcome.summary.coverage, *sentences]
    return replace(outcome, summary=outcome.summary.model_copy(update={"coverage": coverage}))


def _judged(  # noqa: PLR0917
    task: ExportTask,
    converted: ConvertedModel,
    original: Original,
    samples: SampleSource,
    open_file: OpenFile,
    progress: ReportProgress,
    check_files: Callable[[], None],
) -> tuple[Verification, ConvertedModel]:
    """Return the verification of a file, and the file with the shapes that its runs returned."""
    run = Verification(task, converted, original, samples, open_file)
    run.over_all_samples(progress)
    check_files()
    if run.settle_shapes():
        converted = run.shapes.converted
        del run  # two sessions at once would take twice the memory
        run = Verification(task, converted, original, samples, open_file)
        run.over_all_samples(progress)
        run.check_shapes()
    return run, converted
