"""The process that decides whether a file is verified. It runs no code of the user.

It asks the process of the original model (`reference`), and where the file needs the user's
libraries in onnxruntime, that of the runtime (`runtime`). Both may answer anything: what is no
answer ends the verification.
"""

from __future__ import annotations

import time
from dataclasses import replace
from multiprocessing.connection import Connection

from modelexport_exporter.core.machine import free_large_blocks_at_once, free_unused
from modelexport_exporter.core.outcome import Unanswered, VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress
from modelexport_exporter.isolation.messages import InvalidMessageError
from modelexport_exporter.isolation.peer import Asker, PeerEndedError
from modelexport_exporter.verification.checked_facts import FactsContradictError, check_facts
from modelexport_exporter.verification.runtime.opened import OpenFile
from modelexport_exporter.verification.runtime.session import Session
from modelexport_exporter.workers.judgement import judge_file
from modelexport_exporter.workers.pinned_files import PinnedFiles
from modelexport_exporter.workers.remote_original import RemoteOriginal
from modelexport_exporter.workers.remote_runtime import RemoteRuntime


class Judge:
    """Judges the files of one model."""

    def __init__(self, reference: Connection, runtime: Connection | None = None) -> None:
        """`runtime`: the channel to the process of the runtime, if there is one."""
        self._reference = Asker(reference)
        self._runtime = Asker(runtime) if runtime is not None else None

    def prepare(self, _progress: ReportProgress) -> None:
        """Do nothing: what this module imports is there."""

    def judge(
        self, task: ExportTask, converted: ConvertedModel, progress: ReportProgress
    ) -> VerificationOutcome | Unanswered:
        """Compare both on every sample that the budget allows. Raises ExportFailure."""
        started = time.monotonic()
        free_unused()  # what the last file left
        free_large_blocks_at_once()
        original = RemoteOriginal(self._reference)
        try:
            check_facts(task.spec, original.facts)
            files = PinnedFiles(converted)
            outcome = judge_file(
                task, converted, original, self._opener(), progress, started, files.check
            )
            return self._with_runtime(outcome)
        except PeerEndedError:
            return Unanswered()
        except (InvalidMessageError, FactsContradictError) as error:
            return Unanswered(str(error))
        finally:
            self._reference.end()
            if self._runtime is not None:
                self._runtime.end()

    def _with_runtime(self, outcome: VerificationOutcome) -> VerificationOutcome:
        """Return the outcome, which says whether code of the user ran the file."""
        update = {"user_code_in_runtime": self._runtime is not None}
        return replace(outcome, summary=outcome.summary.model_copy(update=update))

    def _opener(self) -> OpenFile:
        if self._runtime is None:
            return Session
        return RemoteRuntime(self._runtime).open
