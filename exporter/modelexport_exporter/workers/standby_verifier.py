"""Verification worker that loads and runs the original module while the file is being made.

What it prepares depends on the spec and the checkpoint only, not on the way to ONNX.
"""

from __future__ import annotations

import torch

from modelexport_exporter.core.machine import cpu_count, free_large_blocks_at_once, sharing_cpus
from modelexport_exporter.core.types import (
    ConvertedModel,
    ExportTask,
    ReportProgress,
    VerificationOutcome,
)
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.verification.reference_model import (
    ReferenceModel,
    load_reference_model,
    prepare_shapes,
)
from modelexport_exporter.workers.early_runs import EarlyRuns
from modelexport_exporter.workers.verify import verify_model

EXPORTER_AND_VERIFIER = 2


class StandbyVerifier:
    """Verifies one file."""

    def __init__(self) -> None:
        self._model: ReferenceModel | None = None
        self._early: EarlyRuns | None = None

    def prepare(self, task: ExportTask, _progress: ReportProgress) -> None:
        """Load the original module, and go on with runs of it. Raises ExportFailure."""
        free_large_blocks_at_once()
        with sharing_cpus(EXPORTER_AND_VERIFIER), older_torch():
            model = prepare_shapes(load_reference_model(task, lambda *_: None))
            threads = cpu_count()
        self._model = model
        if cpu_count() > 1 and not model.on_gpu:
            self._early = EarlyRuns(task, model, threads)

    def verify(
        self, task: ExportTask, converted: ConvertedModel, progress: ReportProgress
    ) -> VerificationOutcome:
        """Do what `verify_model` does with the prepared module. Raises ExportFailure."""
        model, self._model = self._model, None
        if self._early is not None:
            model, self._early = self._early.stop(), None
        torch.set_num_threads(cpu_count())
        return verify_model(task, converted, progress, model)
