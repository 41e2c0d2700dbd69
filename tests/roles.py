"""Verification by judge and reference, both in this process, over a channel as elsewhere."""

from __future__ import annotations

import threading
from multiprocessing import Pipe

from modelexport_exporter.core.types import (
    ConvertedModel,
    ExportTask,
    Unanswered,
    VerificationOutcome,
)
from modelexport_exporter.workers.judge import Judge
from modelexport_exporter.workers.reference import Reference
from models.exporting import silent


def judged(
    task: ExportTask, converted: ConvertedModel, *, prepared: bool = False
) -> VerificationOutcome | Unanswered:
    """Return what the judge says. Raises ExportFailure. `prepared`: run eager PyTorch before."""
    ours, theirs = Pipe()
    reference = Reference(theirs)
    if prepared:
        reference.prepare(task, silent)
    answering = threading.Thread(target=reference.answer, args=(task, silent), daemon=True)
    answering.start()
    try:
        return Judge(ours).judge(task, converted, silent)
    finally:
        answering.join(60)
