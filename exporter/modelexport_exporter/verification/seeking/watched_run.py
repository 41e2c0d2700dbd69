"""What one run of the model shows of its branches: kept, it can be added later."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from modelexport_exporter.verification.seeking.jumps import Taken, WatchedJumps
from modelexport_exporter.verification.seeking.paths import Path, RecordedPath
from modelexport_exporter.verification.seeking.value_reads import Site, ValueReads


@dataclass(frozen=True)
class WatchedRun:
    """What was seen of a run."""

    sites: frozenset[Site] = frozenset()
    """The places that read a value."""
    taken: tuple[Taken, ...] | None = None
    """The jumps of the model's code; None: they were not watched."""
    path: Path | None = None
    """The ops and constants; None: they were not recorded."""


class RunWatch:
    """Watches the run of its context."""

    def __init__(self, *, jumps: bool, path: bool) -> None:
        """Watch which places read a value. `jumps`, `path`: this too, which takes time."""
        self._jumps = WatchedJumps() if jumps else None
        self._path = RecordedPath() if path else None
        self._reads = ValueReads()
        self._active = ExitStack()

    def __enter__(self) -> Self:
        for watch in (self._path, self._jumps, self._reads):
            if watch is not None:
                self._active.enter_context(watch)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._active.__exit__(kind, error, traceback)

    @property
    def found(self) -> WatchedRun:
        """Return what was seen of the run that ended."""
        return WatchedRun(
            frozenset(self._reads.read),
            tuple(self._jumps.taken) if self._jumps is not None else None,
            self._path.path if self._path is not None else None,
        )
