"""Follows an export until it ends: watches it and its Events, and shows what changes.

Two threads watch; each reads the objects again whenever its watch ends, so nothing is missed. What
they read goes through a queue to the caller's thread, which Ctrl-C can interrupt at any time.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from modelexport_api.reasons import ExitCode
from modelexport_api.status import Progress
from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.export import Export, observe
from modelexport_cli.cluster.narration import Line, Step, narrate, narrate_event

if TYPE_CHECKING:
    from modelexport_cli.cluster.client import Cluster

_TEMPORARY = int(ExitCode.RETRYABLE)
_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)
"""Seconds before a watch is started again after an error."""
_GIVE_UP_SECONDS = 300.0
_UNNOTICED_SECONDS = 20.0
_TICK = 0.5

Body = dict[str, Any]
Read = Body | Line | ClusterError


class Log(Protocol):
    """Shows messages and progress."""

    def log(self, level: Any, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Show a message."""

    def progress(self, progress: Progress, **fields: Any) -> None:  # noqa: ANN401
        """Show progress; field `share`: the counts of a batch."""

    def complete(self) -> None:
        """Show that the export succeeded."""


@dataclass
class Feed:
    """What the watching threads read, in a queue."""

    cluster: Cluster
    export: Export
    queue: queue.SimpleQueue[Read] = field(default_factory=queue.SimpleQueue)
    stopped: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Start to watch."""
        threading.Thread(target=self._run_exports, daemon=True).start()
        threading.Thread(target=self._run_events, daemon=True).start()

    def _run_exports(self) -> None:
        try:
            self._run(self._exports)
        except ClusterError as error:
            self.queue.put(error)

    def _run_events(self) -> None:
        """Read Events; without the permission to, an export is followed by its status alone."""
        try:
            self._run(self._events)
        except ClusterError as error:
            self.queue.put(Line("warning", f"Events are not shown: {error.message}"))

    def _run(self, read: Callable[[], Iterator[Body]]) -> None:
        failures = 0
        while not self.stopped.is_set():
            try:
                for body in read():
                    failures = 0
                    if self.stopped.is_set():
                        return
                    self.queue.put(body)
            except ClusterError as error:
                if error.exit_code != _TEMPORARY:
                    raise
                self.queue.put(error)
                self.stopped.wait(_PAUSES[min(failures, len(_PAUSES) - 1)])
                failures += 1

    def _exports(self) -> Iterator[Body]:
        found = self.cluster.export_objects(self.export.name)
        yield {"type": "ADDED", "object": found["items"][0]} if found["items"] else {}
        version = found["metadata"]["resourceVersion"]
        yield from _until_error(self.cluster.watch_export(self.export.name, version))

    def _events(self) -> Iterator[Body]:
        query = {"fieldSelector": f"involvedObject.uid={self.export.uid}"}
        found = self.cluster.list_objects("events", query)
        for item in found["items"]:
            yield {"type": "ADDED", "object": {"kind": "Event", **item}}
        version = found["metadata"]["resourceVersion"]
        yield from _until_error(self.cluster.watch_objects("events", query, version))


def _until_error(events: Iterator[Body]) -> Iterator[Body]:
    """Yield the events before an error of the watch, such as 410: the list is read again."""
    for event in events:
        if event["type"] == "ERROR":
            return
        if event["type"] != "BOOKMARK":
            yield event


class Follower:
    """Shows one export until it has ended, is suspended or deleted."""

    def __init__(self, export: Export, log: Log, *, on_board: bool) -> None:
        self.export = export
        self._log = log
        self._on_board = on_board
        self._told: set[str] = set()
        self._last_seen: Export | None = None
        self._lost_since: float | None = None

    def take(self, read: Read) -> None:
        """Show what was read. Raises ClusterError if the export cannot be followed any more."""
        if isinstance(read, ClusterError):
            self._take_error(read)
            return
        if isinstance(read, Line):
            self._log.log(read.level, read.text)
            return
        self._lost_since = None
        found = read.get("object")
        if found is None:
            self._gone("was deleted")
        elif found["kind"] == "Event":
            self._take_event(found)
        elif found["metadata"]["uid"] != self.export.uid:
            self._gone("was deleted and created again")
        else:
            self._take_export(observe(found))
            if read["type"] == "DELETED" and self.export.end is None:
                self._gone("was deleted")

    def _take_export(self, now: Export) -> None:
        for shown in narrate(self._last_seen, now, on_board=self._on_board):
            if isinstance(shown, Line):
                self._log.log(shown.level, shown.text)
            else:
                self._show(shown)
        self.export = self._last_seen = now
        if now.end is not None and now.failure is None:
            self._log.complete()

    def _show(self, step: Step) -> None:
        if step.share is None:
            self._log.progress(step.progress)
        else:
            self._log.progress(step.progress, share=step.share)

    def _take_event(self, event: Body) -> None:
        name = event["metadata"]["name"]
        line = narrate_event(event)
        if name in self._told or line is None:
            return
        self._told.add(name)
        self._log.log(line.level, line.text)

    def _take_error(self, error: ClusterError) -> None:
        if error.exit_code != _TEMPORARY:
            raise error
        now = time.monotonic()
        if self._lost_since is None:
            self._lost_since = now
            self._log.log("warning", f"{error.message}; trying again", recurs=True)
        elif now - self._lost_since > _GIVE_UP_SECONDS:
            raise error

    def _gone(self, what: str) -> None:
        raise ClusterError(
            f"{self.export.name} {what} before it had ended",
            "Submit the manifest again, or follow the new one with `submit MANIFEST --wait`.",
            exit_code=_TEMPORARY,
            reason="Deleted",
        )


def follow(
    cluster: Cluster,
    export: Export,
    log: Log,
    *,
    timeout: float | None = None,
    on_board: bool = False,
) -> Export:
    """Return the export once it has ended or is suspended. Raises ClusterError, TimeoutError."""
    feed, follower = Feed(cluster, export), Follower(export, log, on_board=on_board)
    started = time.monotonic()
    noticed = False
    feed.start()
    try:
        while follower.export.end is None and not follower.export.suspended:
            waited = time.monotonic() - started
            if timeout is not None and waited >= timeout:
                raise TimeoutError(f"{export.name} has not ended within {timeout:g} s")
            with contextlib.suppress(queue.Empty):
                follower.take(feed.queue.get(timeout=_TICK))
            if not noticed and waited > _UNNOTICED_SECONDS:
                noticed = True
                if follower.export.status.phase is None:
                    log.log("warning", _unnoticed(follower.export))
    finally:
        feed.stopped.set()
    return follower.export


def _unnoticed(export: Export) -> str:
    return (
        f"no operator has taken up {export.name} for {_UNNOTICED_SECONDS:.0f} s: check that the "
        f"operator of ModelExport runs and watches namespace {export.namespace} "
        "(`kubectl get pods -A -l app.kubernetes.io/component=operator`)"
    )
