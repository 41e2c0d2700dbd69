"""The process: wait for leadership, then watch and reconcile until it is stopped.

If any task ends, the process ends: Kubernetes restarts it, and it continues with the stored state.
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

from aiohttp import web
from prometheus_client import CollectorRegistry

from modelexport_operator import handlers, health
from modelexport_operator.cache import Cache
from modelexport_operator.certificate import RenewedCertificate
from modelexport_operator.client import Api
from modelexport_operator.events import EventRecorder
from modelexport_operator.health import Health
from modelexport_operator.leader import Election, LeadershipLostError
from modelexport_operator.lease_owner import find_owner
from modelexport_operator.metrics import LiveSources, Metrics
from modelexport_operator.metrics_access import Gate
from modelexport_operator.progress import Tracker
from modelexport_operator.queue import WorkQueue
from modelexport_operator.reconciler import Reconciler
from modelexport_operator.settings import Settings
from modelexport_operator.traces import Traces
from modelexport_operator.triggers.controller import Triggers
from modelexport_operator.triggers.follower import Dependencies
from modelexport_operator.triggers.metrics import TriggerMetrics
from modelexport_operator.watches import WatchError, Watches

DONE, FAILED = 0, 1
_GRACE = 5.0

log = logging.getLogger(__name__)


class App:
    """One replica."""

    def __init__(
        self, settings: Settings, api: Api, metrics: Metrics, identity: str, traces: Traces
    ) -> None:
        self._settings = settings
        self._cache = Cache()
        self._queue = WorkQueue(time.monotonic, self._cache.namespace_of)
        self._metrics = metrics
        self._leading = False
        namespaces = settings.watch_namespaces
        seconds = settings.resync_seconds
        self._tracker = Tracker(
            api, settings.api.log_qps, metrics.stage_done, self._cache.put_resource
        )
        recorder = EventRecorder(api, identity)
        dependencies = Dependencies(
            api, recorder, TriggerMetrics(metrics.registry), settings.triggers, seconds
        )
        self._triggers = Triggers(dependencies)
        self._watches = Watches(
            api=api,
            cache=self._cache,
            queue=self._queue,
            namespaces=namespaces,
            relist_seconds=seconds,
            children=self._triggers,
            restarted=metrics.watch_restarted,
        )
        self._reconciler = Reconciler(
            api=api,
            cache=self._cache,
            queue=self._queue,
            recorder=recorder,
            tracker=self._tracker,
            metrics=metrics,
            settings=settings,
            traces=traces,
        )
        metrics.read_live(
            LiveSources(
                phases=self._cache.phases,
                waiting_since=self._cache.waiting_since,
                clock=time.time,
                depth=self._queue.depth,
                oldest=self._queue.oldest,
                stalled=self._queue.stalled,
                retrying=self._queue.retrying,
                list_age=lambda: self._watches.list_age,
            )
        )

    def health(self) -> Health:
        """Return what /healthz checks."""
        return Health(self._leading, self._queue.stalled(), self._watches.silent)

    async def lead(self, election: Election, listen: Callable[[], None]) -> None:
        """Run the leader's tasks; return or raise as soon as one of them ends.

        kopf installs its own signal handlers when it starts, and on a signal waits for every task
        of the process; `listen` installs ours again.
        """
        self._leading = True
        self._metrics.leader.set(1)
        tasks = [_task("renew", election.keep()), _task("watch", self._watches.run())]
        stop, ready = asyncio.Event(), asyncio.Event()
        watch: list[asyncio.Task[None]] = []
        try:
            await _wait_for_first([*tasks, _task("first listing", self._watches.first())])
            namespaces = self._settings.watch_namespaces
            watching = handlers.watch(self._triggers, namespaces, stop, ready)
            watch.append(_task("watch triggers", watching))
            tasks += self._start_tasks()
            watches_ready = _task("watches are ready", _wait_until_set(ready))
            await _wait_for_first([*tasks, *watch, watches_ready])
            listen()
            await _wait_for_first([*tasks, *watch])
        finally:
            self._leading = False
            if await _end_writers(tasks):
                await election.release()
            stop.set()
            if watch:
                await asyncio.wait(watch, timeout=_GRACE)

    def _start_tasks(self) -> list[asyncio.Task[None]]:
        workers = range(self._settings.workers)
        return [
            _task("progress", self._tracker.run()),
            _task("triggers", self._triggers.run()),
            *(_task(f"worker {number}", self._reconciler.work()) for number in workers),
        ]


async def run(settings: Settings) -> int:
    """Run a replica until it is stopped (0) or cannot continue (1). Raises CertificateError."""
    secure = settings.secure_metrics
    certificate = RenewedCertificate(secure.certificate_directory) if secure else None
    metrics = Metrics()
    identity = os.environ.get("POD_NAME") or socket.gethostname()
    namespace = os.environ.get("POD_NAMESPACE") or "default"
    api = await Api.connect(settings.api, metrics.request)
    traces = Traces(settings.tracing, os.environ)
    app = App(settings, api, metrics, identity, traces)
    owner = await find_owner(api, namespace)
    election = Election(api, namespace, identity, settings.lease, owner=owner)
    servers = await _serve(settings, certificate, app, api, metrics.registry)
    try:
        return await _until_stopped(app, election)
    finally:
        await election.release()
        for server in servers:
            await server.cleanup()
        await api.close()
        traces.close()


async def _serve(
    settings: Settings,
    certificate: RenewedCertificate | None,
    app: App,
    api: Api,
    registry: CollectorRegistry,
) -> list[web.AppRunner]:
    """Start the server of health and metrics, or with TLS for the metrics one for each."""
    secure, stalled = settings.secure_metrics, settings.stalled_seconds
    if secure is None or certificate is None:
        return [await health.serve(settings.port, app.health, stalled, registry)]
    return [
        await health.serve(settings.port, app.health, stalled, None),
        await health.serve_securely(secure.port, certificate, Gate(api), registry),
    ]


async def _until_stopped(app: App, election: Election) -> int:
    stopping = asyncio.Event()
    listen = partial(_listen, stopping)
    listen()
    work = asyncio.create_task(_work(app, election, listen), name="work")
    stop = asyncio.create_task(stopping.wait(), name="stop")
    await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    if not work.done():
        work.cancel()
        await asyncio.wait({work})
        return DONE
    error = work.exception()
    if error is None:  # a signal that kopf's handlers received
        return DONE
    if isinstance(error, LeadershipLostError):
        log.error("lost leadership: %s; exiting", error)
    elif isinstance(error, WatchError):
        log.error("%s; exiting", error)
    else:
        log.error("unexpected error, exiting", exc_info=error)
    return FAILED


async def _work(app: App, election: Election, listen: Callable[[], None]) -> None:
    await election.acquire()
    await app.lead(election, listen)


def _listen(stopping: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)


def _task(name: str, part: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.create_task(part, name=name)


async def _wait_until_set(event: asyncio.Event) -> None:
    await event.wait()


async def _wait_for_first(tasks: list[asyncio.Task[None]]) -> None:
    """Wait until a task ends; raise its exception if it failed."""
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def _end_writers(tasks: list[asyncio.Task[None]]) -> bool:
    """Cancel what writes, and return whether it has ended: then another replica may lead.

    The watch, which only reads, stops later: kopf waits for all tasks of the process.
    """
    for task in tasks:
        task.cancel()
    _, running = await asyncio.wait(tasks, timeout=_GRACE)
    return not running
