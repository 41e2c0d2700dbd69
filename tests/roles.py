"""Verification by judge, reference and runtime, all in this process, over channels as elsewhere."""

from __future__ import annotations

import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from modelexport_exporter.core.outcome import Unanswered, VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.pipeline.verifier import needs_runtime
from modelexport_exporter.workers.judge import Judge
from modelexport_exporter.workers.reference import Reference
from modelexport_exporter.workers.runtime import FileRuntime
from models.exporting import silent


def judged(
    task: ExportTask, converted: ConvertedModel, *, prepared: bool = False
) -> VerificationOutcome | Unanswered:
    """Return what the judge says. Raises ExportFailure. `prepared`: run eager PyTorch before."""
    ends, answering = [], []
    errors: list[BaseException] = []

    def answer(other: Reference | FileRuntime, channel: Connection) -> None:
        with channel:
            try:
                other.answer(task, silent)
            except BaseException as error:  # noqa: BLE001 - raised where the judge is called
                errors.append(error)

    for role in (Reference, FileRuntime) if needs_runtime(task.spec) else (Reference,):
        ours, theirs = Pipe()
        ends.append(ours)
        other = role(theirs)
        if prepared and isinstance(other, Reference):
            other.prepare(task, silent)
        answering.append(threading.Thread(target=answer, args=(other, theirs), daemon=True))
        answering[-1].start()
    try:
        return Judge(*ends).judge(task, converted, silent)
    finally:
        for thread in answering:
            thread.join(60)
        if errors:
            raise errors[0]
