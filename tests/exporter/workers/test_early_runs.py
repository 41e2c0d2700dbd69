"""A verification whose eager runs were made before ends as one that makes them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import torch

from modelexport_api.status import Verdict
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.outcome import Unanswered, VerificationOutcome
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.verification.early_outputs import EarlyOutputs
from modelexport_exporter.verification.reference_model import ReferenceModel, load_reference_model
from modelexport_exporter.verification.samples import time_shares
from modelexport_exporter.verification.samples.plain_source import plain_source
from modelexport_exporter.verification.unusual_values import UNUSUAL
from modelexport_exporter.workers import one_verification
from modelexport_exporter.workers.early_runs import run_early
from modelexport_exporter.workers.verify import verify_model
from models import catalog
from models.catalog import CODE, RealModel, small_model
from models.exporting import convert, forget_user_code, silent, task_for
from roles import judged

EARLY = CODE / "early.py"
ROWS = {"name": "x", "shape": ["n", 4]}


@pytest.fixture(autouse=True)
def _alike(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no busy machine leave samples out."""
    monkeypatch.setattr(one_verification, "TIME_BUDGET_SECONDS", 600.0)
    monkeypatch.setattr(time_shares, "likely_sizes", lambda _spent: math.inf)
    monkeypatch.setattr(time_shares, "EVERY_SIZE_SECONDS", -1.0)
    yield
    forget_user_code()


def small(name: str) -> RealModel:
    return small_model(EARLY, name, ROWS, n=(1, 40))


class Counted:
    """A loaded model that counts its calls."""

    def __init__(self, task: ExportTask) -> None:
        self.task = task
        self.model: ReferenceModel = load_reference_model(task, silent)
        self.calls = 0
        self.model.module.register_forward_pre_hook(self._count)

    def _count(self, _module: torch.nn.Module, _args: object) -> None:
        self.calls += 1

    def run_early(
        self, outputs: EarlyOutputs, is_stopped: Callable[[], bool] = lambda: False
    ) -> None:
        """Run in a thread, as the worker does: what it reads is not the model's."""
        arguments = (self.task, self.model, outputs, is_stopped)
        thread = threading.Thread(target=run_early, args=arguments)
        thread.start()
        thread.join()


def samples_of(outcome: VerificationOutcome) -> list[object]:
    return [
        (sample.dims, sample.values, [output.max_abs_error for output in sample.outputs])
        for sample in outcome.samples
    ]


@pytest.mark.parametrize("fast", [True, False])
def test_verification_uses_the_outputs_and_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fast: bool
) -> None:
    if not fast:
        monkeypatch.setattr(time_shares, "FAST_SECONDS", 0.0)
        monkeypatch.setattr(time_shares, "MORE_WITHIN_SECONDS", 0.0)
    task = task_for(catalog.DIGITS, tmp_path)
    converted = convert(task)
    plain, early = Counted(task), Counted(task)
    expected = verify_model(task, converted, silent, plain.model)
    early.run_early(early.model.reference.early)
    before, early.calls = early.calls, 0
    outcome = verify_model(task, converted, silent, early.model)
    assert before > 5
    # The other one is called once more, to see whether it remembers its calls.
    unused = early.calls - (plain.calls - before - 1)
    # Some of the likely sizes that a slow model runs at are met with other values, too.
    assert unused == 0 if fast else 0 <= unused <= before // 4
    used = early.model.reference.early
    assert used.seconds > used.arithmetic.seconds > 0
    assert used.arithmetic.in_float64 is None
    assert used.arithmetic.computed_in is None
    assert outcome.summary.verdict is expected.summary.verdict is Verdict.VERIFIED
    assert samples_of(outcome) == samples_of(expected)


def test_runs_of_a_model_that_reads_values_are_watched(tmp_path: Path) -> None:
    task = task_for(small("Reading"), tmp_path)
    outputs = EarlyOutputs()
    model = Counted(task)
    model.run_early(outputs)
    plan = plain_source(task, model.model.bound_inputs.spec)
    runs = [run.watched for s in plan.plan() if (run := outputs.take(plan.arrays(s))) is not None]
    first = next(number for number, run in enumerate(runs) if run.sites)
    assert first > 0  # the first rows are few, and the model reads only of many
    assert {run.taken for run in runs[: first + 1]} == {None}
    assert len(runs) > first + 1
    assert all(run.taken for run in runs[first + 1 :] if run.sites)
    assert all(run.path is not None for run in runs[first + 1 :])


@pytest.mark.timeout(120)
def test_unusual_values_with_which_a_loop_never_ends_are_left_out(tmp_path: Path) -> None:
    task = task_for(small("Halving"), tmp_path)
    outputs = EarlyOutputs()
    model = Counted(task)
    model.run_early(outputs)
    source = plain_source(task, model.model.bound_inputs.spec)
    unusual = [sample for sample in source.plan() if sample.values in UNUSUAL]
    assert unusual
    assert outputs
    assert not any(outputs.has(source.arrays(sample)) for sample in unusual)


@pytest.mark.parametrize(
    ("name", "found"),
    [("Plain", (True, True)), ("Counting", (False, False)), ("Wide", (True, False))],
)
def test_arithmetic_is_found_where_it_changes_nothing(
    tmp_path: Path, name: str, found: tuple[bool, bool]
) -> None:
    outputs = EarlyOutputs()
    Counted(task_for(small(name), tmp_path)).run_early(outputs)
    early = outputs.arithmetic
    assert (early.computed_in is not None, early.in_float64 is not None) == found


def test_model_is_as_before_when_float64_left_something_on_it(tmp_path: Path) -> None:
    outputs = EarlyOutputs()
    model = Counted(task_for(small("Converting"), tmp_path))
    model.run_early(outputs)
    assert outputs.arithmetic.in_float64 is not None
    assert model.model.module.get_buffer("scale").dtype is torch.float32


def test_stopped_run_ends_after_its_sample(tmp_path: Path) -> None:
    task = task_for(small("Plain"), tmp_path)
    model, answers = Counted(task), iter([False, False, True])
    model.run_early(EarlyOutputs(), lambda: next(answers))
    assert model.calls == 2


@pytest.mark.parametrize("name", ["Plain", "Reading", "Failing", "Sampled"])
def test_judge_and_reference_end_as_one_process_does(tmp_path: Path, name: str) -> None:
    model = small("Plain" if name == "Sampled" else name)
    extra = {"verification": {"sampler": "early:rows"}} if name == "Sampled" else {}
    task = task_for(model, tmp_path, **extra)
    converted = convert(task_for(small("Plain"), tmp_path))
    expected = result_of(lambda: verify_model(task, converted, silent))
    for prepared in (False, True):
        outcome = partial(judged, task, converted, prepared=prepared)
        assert result_of(lambda ask=outcome: outcome_of(ask())) == expected  # type: ignore[misc]


def outcome_of(answer: VerificationOutcome | Unanswered) -> VerificationOutcome:
    assert isinstance(answer, VerificationOutcome)
    return answer


def result_of(verify: Callable[[], VerificationOutcome]) -> object:
    """Return what a verification found: samples, or the reason of its failure."""
    try:
        outcome = verify()
    except ExportFailure as failure:
        return failure.reason, failure.message
    return outcome.summary.verdict, samples_of(outcome)
