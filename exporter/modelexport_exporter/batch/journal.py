"""shares/<k>.json: the results of a share so far, so that a restarted pod can continue.

Written by one pod only, at most every two seconds, and before it ends. Before each checkpoint the
pod writes a marker; a leftover marker means that the process was killed (SIGKILL, OOM), and a
checkpoint during which two processes were killed is not tried a third time. A process that is
asked to stop (SIGTERM) removes its marker: no checkpoint is the cause. Results of the last two
seconds may be missing: the manifests at the destinations replace them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.reasons import Reason
from modelexport_exporter.batch.item_result import ItemResult
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.log import Log
from modelexport_exporter.storage.store import Location

MOST_KILLS = 2
INTERVAL_SECONDS = 2.0
SHARES = "shares/"

Content = TypeVar("Content", bound=ApiModel)


class Journal(ApiModel):
    """The content of shares/<k>.json."""

    results: list[ItemResult] = Field(default_factory=list)
    kills: dict[str, int] = Field(default_factory=dict)
    """How many processes were killed during a checkpoint, by its URI."""


class InProgress(ApiModel):
    """The content of the marker, shares/<k>.begun: the checkpoint in progress, if there is one."""

    uri: str | None = None


def resume_journal(journal: Journal | None, begun: InProgress | None, *, again: bool) -> Journal:
    """Return the journal that a process starts with.

    `again`: a new run, which tries every checkpoint again, not a restarted pod.
    """
    journal = journal or Journal()
    known = {result.uri for result in journal.results}
    kills = dict(journal.kills)
    if begun is not None and begun.uri is not None and begun.uri not in known:
        kills[begun.uri] = kills.get(begun.uri, 0) + 1
    return Journal(results=[] if again else journal.results, kills=kills)


class JournalWriter:
    """Writes the journal of one share."""

    def __init__(
        self,
        directory: Location,
        share: int,
        log: Log,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._where = journal_of(directory, share)
        self._marker = directory.child(f"{SHARES}{share}.begun")
        self._log = log
        self._clock = clock
        self._written_at = -INTERVAL_SECONDS
        self._is_current = True
        self._results: dict[str, ItemResult] = {}
        self._kills: dict[str, int] = {}

    def resume(self, *, again: bool) -> None:
        """Continue an earlier process's journal, and record that it was killed. Raises."""
        answer = self._marker.store.read(self._marker.key)
        begun = _parse(InProgress, answer[0]) if answer else None
        journal = resume_journal(read_journal(self._where), begun, again=again)
        self._results = {result.uri: result for result in journal.results}
        self._kills = dict(journal.kills)
        self._is_current = False
        self.flush()
        if begun is not None:
            self.stop()

    @property
    def results(self) -> list[ItemResult]:
        """Return the results of checkpoints, in the order in which they finished."""
        return list(self._results.values())

    def kills(self, uri: str) -> int:
        """Return how many processes were killed during a checkpoint."""
        return self._kills.get(uri, 0)

    def has(self, uri: str) -> bool:
        """Return whether a checkpoint has its result."""
        return uri in self._results

    def begin(self, uri: str) -> None:
        """Write the marker of a checkpoint; an error of the store is only logged."""
        self._mark(InProgress(uri=uri))

    def stop(self) -> None:
        """Remove the checkpoint from the marker."""
        self._mark(InProgress())

    def record(self, result: ItemResult) -> None:
        """Add the result of a checkpoint; write the journal if the last write is old enough."""
        self._results[result.uri] = result
        self._kills.pop(result.uri, None)
        self._is_current = False
        if self._clock() - self._written_at >= INTERVAL_SECONDS:
            self._log_failure(self.flush)

    def close(self) -> None:
        """Write the journal and delete the marker. Raises ExportFailure."""
        self.flush()
        self._log_failure(lambda: self._marker.store.delete([self._marker.key]))

    def flush(self) -> None:
        """Write the journal if it changed. Raises ExportFailure."""
        if self._is_current:
            return
        journal = Journal(results=self.results, kills=self._kills)
        content = journal.model_dump_json(by_alias=True, exclude_none=True).encode()
        self._written_at = self._clock()
        self._where.store.write(self._where.key, content)
        self._is_current = True

    def _mark(self, begun: InProgress) -> None:
        content = begun.model_dump_json(by_alias=True, exclude_none=True).encode()
        self._log_failure(lambda: self._marker.store.write(self._marker.key, content))

    def _log_failure(self, write: Callable[[], None]) -> None:
        try:
            write()
        except ExportFailure as failure:
            if failure.reason is Reason.INTERRUPTED:
                raise
            self._log.log("warning", f"failed to write the journal: {failure.message}")


def journal_of(directory: Location, share: int) -> Location:
    """Return the location of a share's journal."""
    return directory.child(f"{SHARES}{share}.json")


def read_journal(where: Location) -> Journal | None:
    """Return a share's journal; None if there is none that can be read."""
    answer = where.store.read(where.key)
    return _parse(Journal, answer[0]) if answer else None


def _parse(kind: type[Content], content: bytes) -> Content | None:
    try:
        return kind.model_validate_json(content)
    except ValueError:
        return None
