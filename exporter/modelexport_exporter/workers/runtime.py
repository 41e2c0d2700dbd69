"""The process that runs the file with the user's plugins and libraries, for the judge."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from modelexport_api.spec import Provider
from modelexport_api.status import Stage
from modelexport_exporter.core.machine import free_large_blocks_at_once, free_unused
from modelexport_exporter.core.types import ExportTask, ReportProgress
from modelexport_exporter.isolation.peer import Answerer
from modelexport_exporter.plugins.plugins import load_plugins
from modelexport_exporter.plugins.runtime import SessionSetup
from modelexport_exporter.verification.reference_model import as_verification
from modelexport_exporter.verification.runtime.session import Session
from modelexport_exporter.workers.remote_runtime import ANSWERS, Opened, Ran

Array = NDArray[Any]


class FileRuntime:
    """Runs the files of one model."""

    def __init__(self, channel: Connection) -> None:
        self._answerer = Answerer(channel)

    def answer(self, task: ExportTask, progress: ReportProgress) -> None:
        """Answer the judge until it has done with the file of this task."""
        progress(Stage.VERIFY, 0.0, "answering the judge")
        free_large_blocks_at_once()
        sessions = _Sessions(task, as_verification(progress))
        self._answerer.serve(
            {name: (getattr(sessions, name), kind) for name, kind in ANSWERS.items()}
        )
        del sessions
        free_unused()


class _Sessions:
    def __init__(self, task: ExportTask, progress: ReportProgress) -> None:
        self._task, self._progress = task, progress
        self._setup: SessionSetup | None = None
        self._numbers = itertools.count()
        self._sessions: dict[int, Session] = {}

    def open(self, path: Path, provider: Provider, prepack: bool) -> Opened:
        """Load a file. Raises ExportFailure."""
        if self._setup is None:
            self._setup = load_plugins(self._task, self._progress).session_setup()
        session = Session(path, provider, prepack=prepack, setup=self._setup)
        number = next(self._numbers)
        self._sessions[number] = session
        return Opened(
            number,
            session.provider,
            session.assignment,
            session.input_names,
            session.output_names,
            dict(session.output_shapes),
        )

    def run(self, number: int, arrays: Mapping[str, Array], where: str) -> Ran:
        """Return the outputs of a file. Raises ExportFailure."""
        session = self._sessions[number]
        outputs = session.run(arrays, where)
        return Ran(session.output_names, outputs)

    def close(self, number: int) -> None:
        """Free a file."""
        self._sessions.pop(number, None)
