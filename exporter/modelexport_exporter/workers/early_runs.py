"""Runs eager PyTorch on the planned samples while the exporter converts, in a thread.

The verifier waits meanwhile, and the values of a planned sample do not depend on the file. A
verification with these outputs decides as it would without: they count with the time that they
took, and the runs of a model that reads values are watched for the branches that they take.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import torch
from numpy.typing import NDArray

from modelexport_api.spec import Precision
from modelexport_exporter.core.dims import describe_sizes
from modelexport_exporter.core.machine import busy_seconds, free_memory, release_memory
from modelexport_exporter.core.sample import ORDINARY, Sample
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.verification.early_arithmetic import EarlyAnswer, EarlyArithmetic
from modelexport_exporter.verification.early_outputs import EarlyOutputs, EarlyRun
from modelexport_exporter.verification.reference_model import ReferenceModel
from modelexport_exporter.verification.samples import time_shares
from modelexport_exporter.verification.samples.budget import TIME_BUDGET_SECONDS
from modelexport_exporter.verification.samples.plain_source import plain_source
from modelexport_exporter.verification.samples.sample_scheduler import SampleScheduler
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.seeking.frozen_code import Branches, branches_of
from modelexport_exporter.verification.seeking.watched_run import RunWatch
from modelexport_exporter.verification.unusual_values import UNUSUAL

Array = NDArray[Any]
Arrays = Mapping[str, Array]

SHARE_OF_MEMORY = 0.25
"""The exporter needs memory at the same time."""
FIRST_ORDINARY = 2
"""The verification asks for the arithmetic of the first, and for float64 of the second."""
FLOAT64_BYTES = 8
LARGEST_COPY_BYTES = 1 << 26
"""A copy of a weight in float64 takes at most so much while the exporter converts."""


class EarlyRuns:
    """Runs samples in a thread until it is stopped. The model must not be used before."""

    def __init__(self, task: ExportTask, model: ReferenceModel, threads: int) -> None:
        """Begin with the samples of a task. `threads`: CPUs that one run may use."""
        self._model, self._outputs = model, EarlyOutputs()
        self._stopped = threading.Event()

        def run() -> None:
            torch.set_num_threads(threads)
            # What fails now fails again where it is compared, and is reported there.
            with older_torch(), suppress(Exception):
                run_early(task, model, self._outputs, self._stopped.is_set)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def stop(self) -> ReferenceModel:
        """Return the model with the outputs so far."""
        self._stopped.set()
        self._thread.join()
        self._model.reference.early = self._outputs
        return self._model


def run_early(
    task: ExportTask,
    model: ReferenceModel,
    outputs: EarlyOutputs,
    is_stopped: Callable[[], bool],
) -> None:
    """Add what the verification of the task will ask first, as much as time and memory allow.

    Nothing where a sampler draws, which may draw other values when it is called again, and no
    outputs for unusual values: whether the model takes these is found out first, and a loop may
    never end with them. Raises what the model raises.
    """
    source = plain_source(task, model.bound_inputs.spec)
    if source.sampler is not None:
        return
    samples = _EarlySamples(task, model, outputs, source, is_stopped)
    planned = [sample for sample in source.plan() if sample.values not in UNUSUAL]
    if not samples.run(planned):
        return
    if task.spec.export.precision is Precision.NATIVE:
        find_arithmetic(model, outputs.arithmetic, samples, is_stopped)
    if not samples.are_fast:  # or else all sizes are compared, and other values first
        samples.run(source.likely_sizes([sample.dims for sample in planned]))


class _EarlySamples:
    """Runs eager PyTorch on samples until it is stopped."""

    def __init__(
        self,
        task: ExportTask,
        model: ReferenceModel,
        outputs: EarlyOutputs,
        source: SampleSource,
        is_stopped: Callable[[], bool],
    ) -> None:
        self._model, self._outputs, self._source = model, outputs, source
        self._is_stopped = is_stopped
        self._scheduler = SampleScheduler(source.spec, TIME_BUDGET_SECONDS, _free_share)
        self._paths = branches_of(task) is Branches.ONE_SIDE
        self._reads_values = False
        self.ordinary: list[Arrays] = []
        """The first samples of ordinary values, FIRST_ORDINARY at most."""

    def run(self, samples: Iterable[Sample]) -> bool:
        """Add the outputs of samples; return False at the end of the time or of the memory."""
        for sample in samples:
            if self._is_stopped() or not self._scheduler.admit(sample).fits:
                return False
            arrays = self._source.arrays(sample)
            if self._outputs.has(arrays):
                continue
            if not self._outputs.add(arrays, self._run(sample, arrays)):
                return False
            if sample.values in ORDINARY and len(self.ordinary) < FIRST_ORDINARY:
                self.ordinary.append(arrays)
            release_memory()
        return True

    @property
    def are_fast(self) -> bool:
        """Return whether the model is fast, by the samples so far."""
        return time_shares.is_fast(self._scheduler.seconds)

    @property
    def measure_noise(self) -> bool:
        """Return whether the verification measures the model's noise, by the samples so far."""
        return time_shares.measures_noise(self._scheduler.slowest or 0.0)

    def _run(self, sample: Sample, arrays: Arrays) -> EarlyRun:
        started = busy_seconds()
        where = f"{describe_sizes(sample.dims)} ({sample.label} values, seed {sample.seed})"
        # As they would be in the verification: few models read values.
        watch = RunWatch(jumps=self._reads_values, path=self._reads_values and self._paths)
        with watch:
            found = self._model.reference.run(arrays, where)
        seconds = busy_seconds() - started
        self._reads_values = self._reads_values or bool(watch.found.sites)
        self._scheduler.note(sample, seconds)
        return EarlyRun(found, seconds, watch.found)


def find_arithmetic(
    model: ReferenceModel,
    found: EarlyArithmetic,
    samples: _EarlySamples,
    is_stopped: Callable[[], bool],
) -> None:
    """Find what the comparisons of the first ordinary samples need of the model's arithmetic.

    Not of a model that runs change: in other arithmetic they would leave other tensors on it, and
    whether it remembers its calls is found out later. Nothing where weights are so large that
    their copies in float64 would add to the memory that the conversion takes meanwhile.
    """
    ordinary = samples.ordinary
    if is_stopped() or len(ordinary) < FIRST_ORDINARY or model.before.changed(model.module):
        return
    reference, (first, second) = model.reference, ordinary
    started = busy_seconds()
    arithmetic = reference.computed_in(first)
    found.computed_in = EarlyAnswer.of(first, arithmetic, busy_seconds() - started)
    copied = largest_operand(model.module) * FLOAT64_BYTES
    if is_stopped() or not samples.measure_noise or copied > LARGEST_COPY_BYTES:
        return
    started = busy_seconds()
    outputs = reference.in_float64_if_possible(second)
    found.in_float64 = EarlyAnswer.of(second, outputs, busy_seconds() - started)
    if model.before.changed(model.module):
        model.before.restore(model.module)


def largest_operand(module: torch.nn.Module) -> int:
    """Return the number of elements of the largest weight that is computed with.

    The table of an embedding is looked up only, unless another layer shares it.
    """
    parts = (part for part in module.modules() if not isinstance(part, torch.nn.Embedding))
    weights = (own for part in parts for own in part.parameters(recurse=False))
    return max((own.numel() for own in weights), default=0)


def _free_share() -> int:
    return int(free_memory() * SHARE_OF_MEMORY)
