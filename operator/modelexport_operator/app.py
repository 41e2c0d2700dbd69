"""The process: wait for leadership, then watch, resync and work until told to stop.

Any part that ends, ends the process: Kubernetes starts it anew, and it goes on where it was.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from modelexport_operator import handlers, health
from modelexport_operator.cache import Cache
from modelexport_operator.client import Api
from modelexport_operator.events import Recorder
from modelexport_operator.health import Pulse
from modelexport_operator.leader import Election, LeadershipLostError
from modelexport_operator.metrics import Metrics
from modelexport_operator.progress import Tracker
from modelexport_operator.queue import WorkQueue
from modelexport_operator.reconciler import Reconciler
from modelexport_operator.resync import Resync
from modelexport_operator.settings import Settings
from modelexport_operator.triggers.controller import Triggers
from modelexport_operator.triggers.follower import Tools
from modelexport_operator.triggers.metrics import TriggerMetrics

DONE, FAILED = 0, 1
_GRACE = 5.0
_WATCH = "watch"

log = logging.getLogger(__name__)


class App:
    """One replica."""

    def __init__(self, settings: Settings, api: Api, metrics: Metrics, identity: str) -> None:
        self._settings = settings
        self._cache = Cache()
        self._queue = WorkQueue(time.monotonic)
        self._metrics = metrics
        self._leading = False
        namespaces = settings.watch_namespaces
        seconds = settings.resync_seconds
        self._resync = Resync(api, self._cache, self._queue, namespaces, seconds)
        self._tracker = Tracker(
            api, settings.api.log_qps, metrics.stage_done, self._cache.put_resource
        )
        recorder = Recorder(api, identity)
        tools = Tools(api, recorder, TriggerMetrics(metrics.registry), settings.triggers, seconds)
        self._triggers = Triggers(tools, namespaces)
        self._reconciler = Reconciler(
            api=api,
            cache=self._cache,
            queue=self._queue,
            recorder=recorder,
            tracker=self._tracker,
            metrics=metrics,
            settings=settings,
        )
        metrics.read_live(self._cache.phases, self._queue.depth, self._queue.oldest)

    def pulse(self) -> Pulse:
        """Return the signs of life."""
        return Pulse(self._leading, self._resync.age, self._queue.oldest())

    async def lead(self, election: Election, listen: Callable[[], None]) -> None:
        """Do the work of the leader; returns or raises as soon as one part of it ends.

        kopf takes the signals for itself when it starts, and on a signal waits for every task of
        the process; `listen` takes them back.
        """
        self._leading = True
        self._metrics.leader.set(1)
        stop, ready = asyncio.Event(), asyncio.Event()
        parts = [_task("renew", election.keep())]
        try:
            await _first_of([*parts, _task("first listing", self._resync.first())])
            parts += self._parts(stop, ready)
            await _first_of([*parts, _task("watches are up", _until(ready))])
            listen()
            await _first_of(parts)
        finally:
            self._leading = False
            await _end(parts, stop)

    def _parts(self, stop: asyncio.Event, ready: asyncio.Event) -> list[asyncio.Task[None]]:
        namespaces = self._settings.watch_namespaces
        watch = handlers.watch(self._cache, self._queue, namespaces, stop, ready)
        workers = range(self._settings.workers)
        return [
            _task(_WATCH, watch),
            _task("resync", self._resync.run()),
            _task("progress", self._tracker.run()),
            _task("triggers", self._triggers.run()),
            *(_task(f"worker {number}", self._reconciler.work()) for number in workers),
        ]


async def run(settings: Settings) -> int:
    """Run a replica until it is told to stop (0) or cannot go on (1)."""
    metrics = Metrics()
    identity = os.environ.get("POD_NAME") or socket.gethostname()
    namespace = os.environ.get("POD_NAMESPACE") or "default"
    api = await Api.connect(settings.api, metrics.request)
    app = App(settings, api, metrics, identity)
    election = Election(api, namespace, identity, settings.lease)
    server = await health.serve(settings.port, app.pulse, settings.resync_seconds, metrics.registry)
    try:
        return await _until_stopped(app, election)
    finally:
        await election.release()
        await server.cleanup()
        await api.close()


async def _until_stopped(app: App, election: Election) -> int:
    told = asyncio.Event()
    listen = partial(_listen, told)
    listen()
    work = asyncio.create_task(_work(app, election, listen), name="work")
    stop = asyncio.create_task(told.wait(), name="stop")
    await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    if not work.done():
        work.cancel()
        await asyncio.wait({work})
        return DONE
    error = work.exception()
    if error is None:  # a signal while kopf had them
        return DONE
    if isinstance(error, LeadershipLostError):
        log.error("leadership lost: %s", error)
    else:
        log.error("the operator cannot go on", exc_info=error)
    return FAILED


async def _work(app: App, election: Election, listen: Callable[[], None]) -> None:
    await election.acquire()
    await app.lead(election, listen)


def _listen(told: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)


def _task(name: str, part: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.create_task(part, name=name)


async def _until(event: asyncio.Event) -> None:
    await event.wait()


async def _first_of(tasks: list[asyncio.Task[None]]) -> None:
    """Wait for the first task that ends; raise what it raised."""
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def _end(tasks: list[asyncio.Task[None]], stop: asyncio.Event) -> None:
    """End everything else first: kopf waits for tasks that are none of its business."""
    watch = [task for task in tasks if task.get_name() == _WATCH]
    others = [task for task in tasks if task not in watch]
    for task in others:
        task.cancel()
    await asyncio.wait(others, timeout=_GRACE)
    stop.set()
    if watch:
        await asyncio.wait(watch, timeout=_GRACE)
