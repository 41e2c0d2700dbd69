"""An admitted export from its creation on: each decision, and whether it is as promised."""

from __future__ import annotations

import random
import traceback
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import jsonschema

from chaos.specs.cluster import STEPS, Cluster
from chaos.specs.generate import schemas
from modelexport_operator import actions, observe, pods
from modelexport_operator.decide import decide
from modelexport_operator.decisions import (
    Acknowledge,
    CreateJob,
    Decision,
    DeleteExport,
    DeleteJob,
    StopJob,
)
from modelexport_operator.observe import Observation
from modelexport_operator.reconciler import MAX_ACTIONS
from modelexport_operator.rejections import Rejection, cause_of
from unit.operator.objects import SETTINGS, Object

_STEPS = 40
_RANK = {"Pending": 0, "Running": 1, "Succeeded": 2, "Failed": 2}
_DELAYS = ("exceeded quota: jobs", "failed calling webhook", "etcdserver: timed out", "conflict")
_REFUSALS = ('unknown field "spec.nodeSelectr"', "denied by a policy")


def problems(admitted: Object, seed: int) -> list[str]:
    """Return what was not as promised in a random course of an export."""
    course = Course(Cluster(random.Random(seed), admitted))
    try:
        course.run()
    except Exception as error:  # noqa: BLE001 - that is what must not happen
        last = traceback.extract_tb(error.__traceback__)[-1]
        course.broken.append(f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})")
    return course.broken


class Course:
    """The operator looks at a cluster after each of its steps, or not."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._draw = cluster.draw
        self.broken: list[str] = []
        self.looks = 0

    def run(self) -> None:
        """Take all steps."""
        self._look()
        for _ in range(_STEPS):
            self._cluster.step(self._draw.choice(STEPS))
            if self._draw.random() < 0.6:
                self._look()

    def _look(self) -> None:
        """Do what the reconciler does: observe, decide, act, until there is a status."""
        cluster, self.looks = self._cluster, self.looks + 1
        seen = self._observe()
        for _ in range(MAX_ACTIONS):
            decision = decide(seen, cluster.now, SETTINGS)
            self.broken.extend(_after_the_end(seen, decision))
            if decision.action is None:
                if decision.status is not None:
                    self._store(decision)
                return
            seen = self._act(decision, seen)
        self.broken.append(f"more than {MAX_ACTIONS} actions")

    def _observe(self) -> Observation:
        cluster = self._cluster
        found = observe.resource(cluster.body)
        job = observe.job(cluster.job) if cluster.job is not None else None
        if found.terminal or job is None:
            return Observation(found, job)
        listed = () if job.suspended and not job.finished else cluster.pods
        refused = not listed and self._draw.random() < 0.1
        rejection = Rejection(_DELAYS[0], cause_of(_DELAYS[0])) if refused else None
        return Observation(
            found, job, tuple(map(pods.observe_pod, listed)), pod_rejection=rejection
        )

    def _act(self, decision: Decision, seen: Observation) -> Observation:
        cluster = self._cluster
        match decision.action:
            case CreateJob(manifest):
                if seen.job is not None and not seen.job.finished:
                    self.broken.append("a second Job while one runs")
                return self._create(manifest, seen)
            case StopJob(_, failure):
                assert cluster.job is not None
                key = "modelexport.dev/failure"
                text = failure.model_dump_json(by_alias=True, exclude_none=True)
                cluster.job["metadata"]["annotations"] |= {key: text}
                cluster.job["spec"]["backoffLimit"] = 0
                return replace(seen, job=observe.job(cluster.job))
            case DeleteJob(job):
                assert cluster.job is not None
                cluster.job["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
                return replace(seen, job=replace(job, deleting=True))
            case DeleteExport(resource):
                cluster.body["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
                return replace(seen, resource=replace(resource, deleting=True))
            case Acknowledge(resource):
                newer = {**cluster.body["status"], "observedGeneration": resource.generation}
                cluster.write(status=newer)
                return replace(seen, resource=observe.resource(cluster.body))
        raise AssertionError(decision.action)

    def _create(self, manifest: Object, seen: Observation) -> Observation:
        """Let the API server create the Job, refuse it, or be unable to."""
        lot = self._draw.random()
        if lot < 0.03:
            return replace(seen, job_rejection=self._draw.choice(_REFUSALS))
        if lot < 0.2:
            words = self._draw.choice(_DELAYS)
            return replace(seen, job_delay=Rejection(words, cause_of(words)))
        job = observe.job(self._cluster.store_job(manifest))
        return replace(seen, job=job, pods=(), pod_rejection=None)

    def _store(self, decision: Decision) -> None:
        assert decision.status is not None
        stored = observe.resource(self._cluster.body).status
        if actions.same(stored, decision.status):
            return
        new = decision.status.to_wire()
        old = self._cluster.body.get("status", {}).get("phase")
        self.broken.extend(f"invalid status: {e.message}" for e in _status().iter_errors(new))
        known = old in _RANK and new["phase"] in _RANK
        if known and _RANK[new["phase"]] < _RANK[old] and not self._cluster.disturbed:
            self.broken.append(f"went back from {old} to {new['phase']}")
        self._cluster.write(status=new)


def _after_the_end(seen: Observation, decision: Decision) -> Iterator[str]:
    if not seen.resource.terminal:
        return
    if decision.status is not None:
        yield "a status after the end"
    if isinstance(decision.action, CreateJob | StopJob):
        yield f"{type(decision.action).__name__} after the end"


@lru_cache(1)
def _status() -> jsonschema.Draft202012Validator:
    """Return a validator of the CRD's schema of a status, which knows all of its fields."""
    return jsonschema.Draft202012Validator(_closed(schemas()["status"]))


def _closed(schema: Object) -> Object:
    """Refuse unknown fields, which the API server would drop."""
    made = {key: _part(key, value) for key, value in schema.items()}
    if "properties" in made and "additionalProperties" not in made:
        made["additionalProperties"] = bool(made.get("x-kubernetes-preserve-unknown-fields"))
    if made.get("nullable") and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    return made


def _part(key: str, value: object) -> object:
    if key == "properties" and isinstance(value, dict):
        return {name: _closed(of) for name, of in value.items()}
    if key in {"items", "additionalProperties"} and isinstance(value, dict):
        return _closed(value)
    return value
