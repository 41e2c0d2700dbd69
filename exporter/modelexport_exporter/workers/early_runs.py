"""Runs eager PyTorch on the planned samples while the exporter converts, in a thread.

The verifier waits meanwhile, and the values of a planned sample do not depend on the file. A
verification with these outputs decides as it would without: they count with the time that they
took, and the runs of a model that reads values are watched for the branches that they take.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import torch

from modelexport_exporter.core.machine import busy_seconds, free_memory, release_memory
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.verification.early_outputs import EarlyOutputs, EarlyRun
from modelexport_exporter.verification.reference_model import ReferenceModel
from modelexport_exporter.verification.samples.budget import TIME_BUDGET_SECONDS
from modelexport_exporter.verification.samples.plain_source import plain_source
from modelexport_exporter.verification.samples.sample_scheduler import SampleScheduler
from modelexport_exporter.verification.seeking.frozen_code import Branches, branches_of
from modelexport_exporter.verification.seeking.watched_run import RunWatch
from modelexport_exporter.verification.unusual_values import UNUSUAL

SHARE_OF_MEMORY = 0.25
"""The exporter needs memory at the same time."""


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
    """Add the outputs of the task's samples, as many as time and memory allow.

    None where a sampler draws, which may draw other values when it is called again, and none with
    unusual values: whether the model takes these is found out first, and a loop may never end with
    them. Raises what the model raises.
    """
    source = plain_source(task, model.bound_inputs.spec)
    paths = branches_of(task) is Branches.ONE_SIDE
    reads_values = False
    scheduler = SampleScheduler(source.spec, TIME_BUDGET_SECONDS, _free_share)
    planned = source.plan() if source.sampler is None else ()
    for sample in (sample for sample in planned if sample.values not in UNUSUAL):
        if is_stopped() or not scheduler.admit(sample).fits:
            return
        arrays = source.arrays(sample)
        if outputs.has(arrays):
            continue
        started = busy_seconds()
        # As they would be in the verification: few models read values.
        watch = RunWatch(jumps=reads_values, path=reads_values and paths)
        with watch:
            found = model.reference.run(arrays, "before the file is there")
        seconds = busy_seconds() - started
        reads_values = reads_values or bool(watch.found.sites)
        scheduler.note(sample, seconds)
        if not outputs.add(arrays, EarlyRun(found, seconds, watch.found)):
            return
        release_memory()


def _free_share() -> int:
    return int(free_memory() * SHARE_OF_MEMORY)
