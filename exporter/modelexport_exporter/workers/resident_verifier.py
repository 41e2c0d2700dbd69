"""A worker that stays: it verifies one checkpoint's file after the other.

The imports and the user's code are there already. Each module is built and loaded anew.
"""

from __future__ import annotations

import gc

import torch

from modelexport_exporter.core.machine import forget, sharing_cpus
from modelexport_exporter.core.types import (
    ConvertedModel,
    ExportTask,
    ReportProgress,
    VerificationOutcome,
)
from modelexport_exporter.workers.verify import verify_model


class ResidentVerifier:
    """Verifies files of one family."""

    def __init__(self) -> None:
        self._settled = False

    def verify(
        self, task: ExportTask, converted: ConvertedModel, progress: ReportProgress
    ) -> VerificationOutcome:
        """Do what `verify_model` does. Raises ExportFailure."""
        # Beside one that is verified by its weights alone, the next one is exported.
        busy = 2 if task.proven_graph else 1
        try:
            with sharing_cpus(busy):
                return verify_model(task, converted, progress)
        finally:
            forget()
            if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
                # onnxruntime has an allocator of its own, which finds only what torch gives back.
                torch.cuda.empty_cache()
            if not self._settled:
                # What was imported until now stays: no later collection has to look at it.
                gc.freeze()
                self._settled = True
