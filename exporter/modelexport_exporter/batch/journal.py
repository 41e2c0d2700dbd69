"""shares/<k>.json: what became of a share's checkpoints so far, so that a pod can be started again.

Written by one pod only, at most every two seconds, and before it ends. Before each checkpoint a
small marker says that it was begun: whoever finds the marker of one that never ended knows that the
process was killed hard, and a checkpoint of which two processes died is not tried a third time. A
process that is asked to stop (SIGTERM) takes its marker back: that is nobody's fault.
What the journal misses because of the two seconds is found by the manifests at the destinations.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.reasons import Reason
from modelexport_exporter.batch.items import ItemResult
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
    """How many processes were killed while they worked on a checkpoint, by its URI."""


class Begun(ApiModel):
    """The content of shares/<k>.begun: the checkpoint that is in work, if one is."""

    uri: str | None = None


def resumed(journal: Journal | None, begun: Begun | None, *, again: bool) -> Journal:
    """Return the journal that a process begins with.

    `again`: a new run that looks at everything anew, not a pod that goes on.
    """
    journal = journal or Journal()
    known = {result.uri for result in journal.results}
    kills = dict(journal.kills)
    if begun is not None and begun.uri is not None and begun.uri not in known:
        kills[begun.uri] = kills.get(begun.uri, 0) + 1
    return Journal(results=[] if again else journal.results, kills=kills)


class Keeper:
    """Keeps the journal of one share."""

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
        """Take up what an earlier process left, and write down that it was killed. Raises."""
        answer = self._marker.store.read(self._marker.key)
        begun = _parsed(Begun, answer[0]) if answer else None
        journal = resumed(read_journal(self._where), begun, again=again)
        self._results = {result.uri: result for result in journal.results}
        self._kills = dict(journal.kills)
        self._is_current = False
        self.flush()
        if begun is not None:
            self.stop()

    @property
    def results(self) -> list[ItemResult]:
        """Return what became of the checkpoints, in the order in which they ended."""
        return list(self._results.values())

    def kills(self, uri: str) -> int:
        """Return how many processes were killed while they worked on it."""
        return self._kills.get(uri, 0)

    def has(self, uri: str) -> bool:
        """Tell whether a checkpoint has its answer."""
        return uri in self._results

    def begin(self, uri: str) -> None:
        """Write down that a checkpoint is begun; a store that refuses hinders nobody."""
        self._mark(Begun(uri=uri))

    def stop(self) -> None:
        """Write down that no checkpoint is in work."""
        self._mark(Begun())

    def record(self, result: ItemResult) -> None:
        """Keep what became of a checkpoint; write it if the last time is long enough ago."""
        self._results[result.uri] = result
        self._kills.pop(result.uri, None)
        self._is_current = False
        if self._clock() - self._written_at >= INTERVAL_SECONDS:
            self._quietly(self.flush)

    def close(self) -> None:
        """Write what is not written yet, now that nothing is in work. Raises ExportFailure."""
        self.flush()
        self._quietly(lambda: self._marker.store.delete([self._marker.key]))

    def flush(self) -> None:
        """Write what is not written yet. Raises ExportFailure."""
        if self._is_current:
            return
        journal = Journal(results=self.results, kills=self._kills)
        content = journal.model_dump_json(by_alias=True, exclude_none=True).encode()
        self._written_at = self._clock()
        self._where.store.write(self._where.key, content)
        self._is_current = True

    def _mark(self, begun: Begun) -> None:
        content = begun.model_dump_json(by_alias=True, exclude_none=True).encode()
        self._quietly(lambda: self._marker.store.write(self._marker.key, content))

    def _quietly(self, write: Callable[[], None]) -> None:
        try:
            write()
        except ExportFailure as failure:
            if failure.reason is Reason.INTERRUPTED:
                raise
            self._log.log("warning", f"the journal could not be written: {failure.message}")


def journal_of(directory: Location, share: int) -> Location:
    """Return where a share's journal lies."""
    return directory.child(f"{SHARES}{share}.json")


def read_journal(where: Location) -> Journal | None:
    """Return a share's journal; None where there is none, or none that can be read."""
    answer = where.store.read(where.key)
    return _parsed(Journal, answer[0]) if answer else None


def _parsed(kind: type[Content], content: bytes) -> Content | None:
    try:
        return kind.model_validate_json(content)
    except ValueError:
        return None
