"""The reconcile loop around the decisions: take a key, observe, decide, act, until done.

A worker never ends: an error is logged and counted, and the key is retried with backoff. There is
no state between two reconciliations: each starts from the cache and the API.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from datetime import timedelta

from modelexport_api.conditions import find_condition
from modelexport_api.status import ConditionType, ModelExportStatus, Phase
from modelexport_api.summary import first_trouble
from modelexport_operator import (
    actions,
    clock,
    events,
    good_news,
    indexed,
    logs,
    observe,
    pods,
    starting,
)
from modelexport_operator.cache import Cache
from modelexport_operator.client import Api
from modelexport_operator.decide import decide
from modelexport_operator.decisions import Action, Decision
from modelexport_operator.events import EventRecorder
from modelexport_operator.failures import is_out_of_memory
from modelexport_operator.metrics import Metrics
from modelexport_operator.observe import Observation, ObservedJob, ObservedResource
from modelexport_operator.pods import ObservedPod
from modelexport_operator.progress import Tracker, read_tail
from modelexport_operator.queue import WorkQueue
from modelexport_operator.settings import Settings
from modelexport_operator.traces import Traces
from modelexport_operator.transport import CONFLICT, NOT_FOUND, ApiError
from modelexport_operator.workloads import Workloads

MAX_ACTIONS = 4
"""Actions per reconciliation: create, adopt, create the second run, stop. More is a bug."""

_HELD_BACK = {Phase.QUEUED, Phase.SUSPENDED}

_POD_EXPECTED = timedelta(seconds=5)

log = logging.getLogger(__name__)


class Reconciler:
    """Reconciles ModelExports; each worker processes one key at a time."""

    def __init__(
        self,
        *,
        api: Api,
        cache: Cache,
        queue: WorkQueue,
        recorder: EventRecorder,
        tracker: Tracker,
        metrics: Metrics,
        settings: Settings,
        traces: Traces,
    ) -> None:
        self._api = api
        self._cache = cache
        self._queue = queue
        self._recorder = recorder
        self._tracker = tracker
        self._metrics = metrics
        self._settings = settings
        self._traces = traces
        self._workloads = Workloads(api, settings.kueue)

    async def work(self) -> None:
        """Process keys until cancelled."""
        while True:
            uid = await self._queue.take()
            started, about = time.monotonic(), self._cache.identity(uid)
            outcome = "error"
            try:
                outcome = await self._round(uid)
            finally:
                self._queue.done(uid)
                seconds = time.monotonic() - started
                self._metrics.reconcile_seconds.labels(outcome).observe(seconds)
                self._traces.reconciled(uid, about, outcome, seconds)

    async def _round(self, uid: str) -> str:
        try:
            decision = await self.reconcile(uid)
        except ApiError as error:
            if error.status == NOT_FOUND and await self._is_deleted(uid):
                self._queue.forget_failures(uid)
                return "gone"
            pause = self._queue.add_failed(uid)
            level = logging.INFO if error.status == CONFLICT else logging.WARNING
            about = logs.about(self._cache.identity(uid), uid=uid, reason=error.reason)
            log.log(level, "%s, retrying in %.1f s", error, pause, extra=about)
            return "conflict" if error.status == CONFLICT else "refused"
        except Exception:
            pause = self._queue.add_failed(uid)
            about = logs.about(self._cache.identity(uid), uid=uid)
            log.exception("unexpected error, retrying in %.1f s", pause, extra=about)
            return "error"
        if decision.retry:
            pause = self._queue.add_failed(uid)
            trouble = first_trouble(decision.status.conditions) if decision.status else None
            about = logs.about(self._cache.identity(uid), uid=uid)
            why = trouble.message if trouble else ""
            log.warning("%s, retrying in %.1f s", why, pause, extra=about)
            return "delayed"
        self._queue.forget_failures(uid)
        if decision.requeue_after is not None:
            self._queue.add(uid, decision.requeue_after.total_seconds())
        return "ok"

    async def reconcile(self, uid: str) -> Decision:
        """Reconcile one ModelExport; return the last decision: when to check it again."""
        resource = self._cache.resource(uid) or await self._read_large(uid)
        if resource is None:
            self._tracker.forget(uid)
            return Decision()
        seen = await self._observe(resource)
        for _ in range(MAX_ACTIONS):
            decision = decide(seen, clock.now(), self._settings)
            if decision.action is None:
                await self._settle(seen, decision)
                return decision
            seen = await self._act(decision.action, seen)
            if seen.job_delay is None and seen.job_rejection is None:
                await self._recorder.record(resource, decision.events)
        msg = f"more than {MAX_ACTIONS} actions in one reconciliation: {decision.action}"
        raise RuntimeError(msg)

    async def _read_large(self, uid: str) -> ObservedResource | None:
        """Read a ModelExport that is too large for the cache."""
        known = self._cache.identity(uid)
        if known is None:
            return None
        body = await self._api.get_export(known.namespace, known.name)
        if body["metadata"]["uid"] != uid:  # deleted, and another one has its name
            self._cache.drop_resource(uid)
            return None
        return observe.resource(body)

    async def _act(self, action: Action, seen: Observation) -> Observation:
        try:
            done = await actions.act(self._api, action, seen)
        except ApiError as error:
            if error.status == CONFLICT:
                await self._refresh(seen)
            raise
        self._traces.changed(seen.resource.uid)
        if done.resource is not None:
            self._cache.put_resource(done.resource)
        if done.job is None or done.seen.job is None:
            return done.seen
        if seen.job is None:
            self._count_job(done.seen)
        self._cache.put_job(done.job)
        job = done.seen.job
        return await self._with_pods(done.seen, job) if job.finished else done.seen

    async def _refresh(self, seen: Observation) -> None:
        """Read the current ModelExport and Job: the cached ones are outdated."""
        if not await self._is_deleted(seen.resource.uid) and seen.job is not None:
            await self._read_job(seen.resource, seen.job.name)

    async def _settle(self, seen: Observation, decision: Decision) -> None:
        """Write the Events, then the status: after a final status there is no retry."""
        resource = seen.resource
        error = await self._recorder.record(resource, decision.events)
        if error is not None and events.are_needed(decision, self._queue.failures(resource.uid)):
            raise error
        held_back = decision.status is not None and decision.status.phase in _HELD_BACK
        if not held_back:
            self._follow(seen)
        if decision.status is None:
            return
        busy = self._api.busy or self._queue.has_backlog()
        if good_news.can_wait(seen, decision, clock.now(), busy=busy):
            self._queue.add(resource.uid, good_news.PAUSE.total_seconds())
            return
        try:
            written, body = await actions.write_end(self._api, seen, decision.status, clock.now())
        except ApiError as error:
            if error.status == CONFLICT:
                await self._is_deleted(resource.uid)
            raise
        if body is not None:
            self._traces.changed(resource.uid)
            self._cache.put_resource(body)
            if observe.is_terminal(body):
                self._count_end(resource, written)
                self._queue.add(resource.uid)  # for ttlSecondsAfterFinished
        if held_back:
            await self._tracker.clear_running(resource)

    def _count_end(self, resource: ObservedResource, written: ModelExportStatus) -> None:
        if written.phase is None:
            return
        complete = find_condition(written.conditions, ConditionType.COMPLETE)
        reason = complete.reason if complete is not None else ""
        seconds = None
        if resource.created is not None:
            seconds = (clock.now() - resource.created).total_seconds()
        end = written.failure.reason if written.failure is not None else reason
        self._metrics.export_done(written.phase, end, seconds)
        failed = written.failure is not None
        self._traces.ended(resource, resource.created, written.phase, end, failed=failed)
        about = logs.about(resource, job=written.job_name, reason=end)
        log.info("%s: %s", written.phase, end, extra=about)

    def _count_job(self, seen: Observation) -> None:
        """Record the time to the first Job, which whole seconds of the API server limit."""
        job, created = seen.job, seen.resource.created
        if job is not None:
            log.info("created Job %s", job.name, extra=logs.about(seen.resource, job=job.name))
        if job is not None and job.run == 1 and job.created is not None and created is not None:
            self._metrics.job_seconds.observe((job.created - created).total_seconds())

    def _follow(self, seen: Observation) -> None:
        if any(pod.running for pod in seen.pods) and not seen.resource.terminal:
            self._tracker.follow(seen.resource, seen.pods)
        else:
            self._tracker.forget(seen.resource.uid)

    async def _observe(self, resource: ObservedResource) -> Observation:
        if resource.terminal:
            return Observation(resource, self._cache.job_of(resource.uid))
        seen = Observation(resource)
        job = self._cache.job_of(resource.uid) or await self._read_job(
            resource, resource.status.job_name
        )
        if job is None:
            return seen
        seen = await self._with_pods(replace(seen, job=job), job)
        if job.finished or not seen.pods or pods.current(seen.pods) is not None:
            return seen
        # All pods have ended and the Job has not: it retries, or the watch is behind.
        job = await self._read_job(resource, job.name)
        if job is None:
            return Observation(resource)
        seen = replace(seen, job=job)
        return await self._with_pods(seen, job) if job.finished else seen

    async def _read_job(self, resource: ObservedResource, name: str | None) -> ObservedJob | None:
        """Read a Job from the API server, because the cache may be behind."""
        if name is None:
            return None
        try:
            body = await self._api.get_job(resource.namespace, name)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return None
            raise
        job = observe.job(body)
        if job.owner_uid != resource.uid:
            return None
        self._cache.put_job(body)
        return job

    async def _with_pods(self, seen: Observation, job: ObservedJob) -> Observation:
        """List the Job's pods, but not of suspended Jobs: thousands of them may be in a queue."""
        if job.suspended and not job.finished:
            workload = await self._workloads.read(job, clock.now())
            return replace(seen, job=job, pods=(), workload=workload)
        listed = self._api.pods_of_job(job.namespace, job.uid)
        found = [await self._with_details(job, pods.observe_pod(body)) async for body in listed]
        rejection = None
        old = job.admitted is not None and clock.now() - job.admitted > _POD_EXPECTED
        if not found and old and not job.finished:
            rejection = await self._api.pod_creation_error(job.namespace, job.uid)
        return replace(seen, job=job, pods=tuple(found), pod_rejection=rejection)

    async def _with_details(self, job: ObservedJob, pod: ObservedPod) -> ObservedPod:
        """Add what a killed pod was doing, and what a pod that does not start waits for."""
        grace = timedelta(seconds=self._settings.pod_start_grace_seconds)
        if starting.is_late(pod, clock.now(), grace):
            obstacle = await starting.read_obstacle(self._api, job.namespace, pod)
            return replace(pod, obstacle=obstacle)
        if not _needs_log(job, pod):
            return pod
        return replace(pod, log=await read_tail(self._api, job.namespace, pod.name))

    async def _is_deleted(self, uid: str) -> bool:
        """Read the ModelExport again after an error; return whether it was deleted."""
        known = self._cache.identity(uid)
        if known is None:
            return True
        try:
            body = await self._api.get_export(known.namespace, known.name)
        except ApiError as error:
            if error.status != NOT_FOUND:
                return False
            body = {}
        if body.get("metadata", {}).get("uid") != uid:
            self._cache.drop_resource(uid)
            self._tracker.forget(uid)
            return True
        self._cache.put_resource(body)
        return False


def _needs_log(job: ObservedJob, pod: ObservedPod) -> bool:
    """Return whether only the log has a pod's progress: it was killed, and is not retried."""
    end = pod.terminated
    if end is None or (end.result is not None and end.result.share is not None):
        return False
    if job.shares is None:
        return is_out_of_memory(end)
    return job.finished and pod.index in indexed.parse(job.failed_indexes)
