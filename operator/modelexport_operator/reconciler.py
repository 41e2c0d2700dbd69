"""The shell around the decisions: take a key, observe, decide, act, until nothing is left to do.

A worker survives everything: what goes wrong is logged and counted, and the key comes back after
a pause. Nothing is kept between two rounds; a round begins with what the cache and the API say.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from datetime import timedelta

from modelexport_api.status import Phase
from modelexport_operator import actions, clock, indexed, observe, pods
from modelexport_operator.cache import Cache
from modelexport_operator.client import CONFLICT, NOT_FOUND, Api, ApiError
from modelexport_operator.decide import decide
from modelexport_operator.decisions import Action, Decision
from modelexport_operator.events import Recorder
from modelexport_operator.failures import is_out_of_memory
from modelexport_operator.metrics import Metrics
from modelexport_operator.observe import Observation, ObservedJob, ObservedResource
from modelexport_operator.pods import ObservedPod
from modelexport_operator.progress import Tracker, read_tail
from modelexport_operator.queue import WorkQueue
from modelexport_operator.settings import Settings

MAX_ACTIONS = 4
"""Actions in one round: create, adopt, create the second run, stop. More would be a defect."""

_HELD_BACK = {Phase.QUEUED, Phase.SUSPENDED}

_POD_EXPECTED = timedelta(seconds=5)

log = logging.getLogger(__name__)


class Reconciler:
    """Brings ModelExports to where they belong, one key at a time for each worker."""

    def __init__(
        self,
        *,
        api: Api,
        cache: Cache,
        queue: WorkQueue,
        recorder: Recorder,
        tracker: Tracker,
        metrics: Metrics,
        settings: Settings,
    ) -> None:
        self._api = api
        self._cache = cache
        self._queue = queue
        self._recorder = recorder
        self._tracker = tracker
        self._metrics = metrics
        self._settings = settings

    async def work(self) -> None:
        """Take keys for ever."""
        while True:
            uid = await self._queue.take()
            started = time.monotonic()
            outcome = "error"
            try:
                outcome = await self._round(uid)
            finally:
                self._queue.done(uid)
                seconds = time.monotonic() - started
                self._metrics.reconcile_seconds.labels(outcome).observe(seconds)

    async def _round(self, uid: str) -> str:
        try:
            again = await self.reconcile(uid)
        except ApiError as error:
            if error.status == NOT_FOUND and await self._gone(uid):
                return "gone"
            pause = self._queue.add_failed(uid)
            level = logging.INFO if error.status == CONFLICT else logging.WARNING
            log.log(level, "%s; again in %.1f s", error, pause, extra={"fields": {"uid": uid}})
            return "conflict" if error.status == CONFLICT else "refused"
        except Exception:
            pause = self._queue.add_failed(uid)
            log.exception("defect; again in %.1f s", pause, extra={"fields": {"uid": uid}})
            return "error"
        self._queue.forget_failures(uid)
        if again is not None:
            self._queue.add(uid, again.total_seconds())
        return "ok"

    async def reconcile(self, uid: str) -> timedelta | None:
        """Do what is to be done for one ModelExport; return when to look again."""
        resource = self._cache.resource(uid)
        if resource is None:
            self._tracker.forget(uid)
            return None
        seen = await self._observe(resource)
        for _ in range(MAX_ACTIONS):
            decision = decide(seen, clock.now(), self._settings)
            if decision.action is None:
                return await self._settle(seen, decision)
            seen = await self._act(decision.action, seen)
            await self._recorder.tell(resource, decision.events)
        msg = f"more than {MAX_ACTIONS} actions in one round: {decision.action}"
        raise RuntimeError(msg)

    async def _act(self, action: Action, seen: Observation) -> Observation:
        try:
            done = await actions.act(self._api, action, seen)
        except ApiError as error:
            if error.status == CONFLICT:
                await self._look_again(seen)
            raise
        if done.resource is not None:
            self._cache.put_resource(done.resource)
        if done.job is None or done.seen.job is None:
            return done.seen
        self._cache.put_job(done.job)
        job = done.seen.job
        return await self._with_pods(done.seen, job) if job.finished else done.seen

    async def _look_again(self, seen: Observation) -> None:
        """Read what was older in the cache than on the server."""
        if not await self._gone(seen.resource.uid) and seen.job is not None:
            await self._read_job(seen.resource, seen.job.name)

    async def _settle(self, seen: Observation, decision: Decision) -> timedelta | None:
        """Write the status; the Events go first, because the status is what ends everything."""
        resource = seen.resource
        await self._recorder.tell(resource, decision.events)
        held_back = decision.status is not None and decision.status.phase in _HELD_BACK
        if not held_back:
            self._follow(seen)
        if decision.status is None:
            return decision.requeue_after
        try:
            written, body = await actions.write_end(self._api, seen, decision.status, clock.now())
        except ApiError as error:
            if error.status == CONFLICT:
                await self._gone(resource.uid)
            raise
        if body is not None:
            self._cache.put_resource(body)
            if observe.is_terminal(body):
                reason = written.conditions[-1].reason
                self._metrics.finished.labels(written.phase, reason).inc()
                self._queue.add(resource.uid)  # how long it is kept
        if held_back:
            await self._tracker.rest(resource)
        return decision.requeue_after

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
        # All pods are over and the Job is not: it retries, or the watch is late.
        job = await self._read_job(resource, job.name)
        if job is None:
            return Observation(resource)
        seen = replace(seen, job=job)
        return await self._with_pods(seen, job) if job.finished else seen

    async def _read_job(self, resource: ObservedResource, name: str | None) -> ObservedJob | None:
        """Ask for a Job that no watch has shown yet as it is."""
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
        """List the Job's pods; thousands may wait in a queue, and cost nothing meanwhile."""
        if job.suspended and not job.finished:
            return replace(seen, job=job, pods=())
        listed = self._api.pods_of_job(job.namespace, job.uid)
        found = [await self._with_log(job, pods.observed(body)) async for body in listed]
        refused = None
        old = job.admitted is not None and clock.now() - job.admitted > _POD_EXPECTED
        if not found and old and not job.finished:
            refused = await self._api.why_no_pod(job.namespace, job.uid)
        return replace(seen, job=job, pods=tuple(found), pod_refused=refused)

    async def _with_log(self, job: ObservedJob, pod: ObservedPod) -> ObservedPod:
        """Let a pod that was killed tell by its log what it was doing."""
        if not _is_log_asked_for(job, pod):
            return pod
        return replace(pod, log=await read_tail(self._api, job.namespace, pod.name))

    async def _gone(self, uid: str) -> bool:
        """Read the ModelExport again after a refusal; tell whether it exists no more."""
        resource = self._cache.resource(uid)
        if resource is None:
            return True
        try:
            body = await self._api.get_export(resource.namespace, resource.name)
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


def _is_log_asked_for(job: ObservedJob, pod: ObservedPod) -> bool:
    """Tell whether a pod's log says what nothing else does: it was killed, for good."""
    end = pod.terminated
    if end is None or (end.result is not None and end.result.share is not None):
        return False
    if job.shares is None:
        return is_out_of_memory(end)
    return job.finished and pod.index in indexed.parse(job.failed_indexes)
