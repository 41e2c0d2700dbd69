"""Resident verification worker: verifies the files of several checkpoints, one after the other.

Imports and the user's code are loaded once; each checkpoint's module is built and loaded again.
"""

from __future__ import annotations

import gc

import torch

from modelexport_exporter.core.machine import free_unused, sharing_cpus
from modelexport_exporter.core.types import (
    ConvertedModel,
    ExportTask,
    ReportProgress,
    VerificationOutcome,
)
from modelexport_exporter.workers.verify import verify_model


class ResidentVerifier:
    """Verifies files of one model."""

    def __init__(self) -> None:
        self._frozen = False

    def verify(
        self, task: ExportTask, converted: ConvertedModel, progress: ReportProgress
    ) -> VerificationOutcome:
        """Do what `verify_model` does. Raises ExportFailure."""
        # While a file is verified by its weights alone, the next checkpoint is exported.
        busy = 2 if task.proven_graph else 1
        try:
            with sharing_cpus(busy):
                return verify_model(task, converted, progress)
        finally:
            free_unused()
            if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
                # onnxruntime has its own allocator, which can use only memory that torch has freed.
                torch.cuda.empty_cache()
            if not self._frozen:
                # Imported objects live until the end: later collections need not visit them.
                gc.freeze()
                self._frozen = True
