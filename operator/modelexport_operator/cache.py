"""Cached state of the cluster: ModelExports by uid, and their Jobs.

Filled by watches and by the answers to the operator's own writes, corrected by periodic lists. An
older version never replaces a newer one. Of finished exports the cache keeps the end and
ttlSecondsAfterFinished only: ten thousand of them must fit into a small pod. Of live exports it
keeps the spec only up to `SPEC_BYTES`; a larger one is read again when it is needed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from modelexport_api.status import ConditionType
from modelexport_operator import clock, names, observe
from modelexport_operator.observe import ObservedJob, ObservedResource

Body = Mapping[str, Any]
SPEC_BYTES = 16 * 1024
_KEPT_META = (
    *("name", "namespace", "uid", "generation", "resourceVersion"),
    *("creationTimestamp", "deletionTimestamp"),
)
_TTL = "ttlSecondsAfterFinished"
_ENDS = {ConditionType.COMPLETE, ConditionType.FAILED}


@dataclass(frozen=True, slots=True)
class _Entry:
    version: str
    namespace: str
    phase: str
    settled: bool
    """Finished, and nothing is left to do."""
    text: bytes | None
    """None: too large to be kept."""
    name: str
    generation: int | None
    since: float
    """When it was created, or a condition last changed: seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which ModelExport it is."""

    namespace: str
    name: str
    uid: str
    generation: int | None


@dataclass(frozen=True, slots=True)
class _JobEntry:
    version: str
    job: ObservedJob


class Cache:
    """The latest observed versions of ModelExports and Jobs."""

    def __init__(self) -> None:
        self._resources: dict[str, _Entry] = {}
        self._jobs: dict[str, dict[str, _JobEntry]] = {}

    def put_resource(self, body: Body) -> bool:
        """Store a ModelExport; return whether it was newer than the cached version."""
        meta = body["metadata"]
        version, known = meta["resourceVersion"], self._resources.get(meta["uid"])
        if known is not None and not _newer(version, known.version):
            return False
        terminal = observe.is_terminal(body)
        phase = (body.get("status") or {}).get("phase") or "Pending"
        kept = _strip_finished(body) if terminal else _strip(body)
        text = json.dumps(kept, separators=(",", ":")).encode()
        self._resources[meta["uid"]] = _Entry(
            version,
            sys.intern(meta["namespace"]),
            sys.intern(phase),
            terminal and _is_settled(kept),
            text if len(text) <= SPEC_BYTES else None,
            meta["name"],
            meta.get("generation"),
            _since(body),
        )
        return True

    def drop_resource(self, uid: str) -> None:
        """Remove a deleted ModelExport."""
        self._resources.pop(uid, None)

    def put_job(self, body: Body) -> str | None:
        """Store a Job; return the uid of its ModelExport if it was newer than the cached one."""
        job, version = observe.job(body), body["metadata"]["resourceVersion"]
        jobs = self._jobs.setdefault(job.owner_uid, {})
        known = jobs.get(job.uid)
        if known is not None and not _newer(version, known.version):
            return None
        jobs[job.uid] = _JobEntry(version, job)
        return job.owner_uid

    def drop_job(self, body: Body) -> str:
        """Remove a deleted Job; return the uid of its ModelExport."""
        job = observe.job(body)
        jobs = self._jobs.get(job.owner_uid, {})
        jobs.pop(job.uid, None)
        if not jobs:
            self._jobs.pop(job.owner_uid, None)
        return job.owner_uid

    def resource(self, uid: str) -> ObservedResource | None:
        """Return a ModelExport; None if it does not exist, or is too large to be kept."""
        entry = self._resources.get(uid)
        if entry is None or entry.text is None:
            return None
        return observe.resource(json.loads(entry.text))

    def identity(self, uid: str) -> Identity | None:
        """Return which ModelExport it is, if it exists."""
        entry = self._resources.get(uid)
        if entry is None:
            return None
        return Identity(entry.namespace, entry.name, uid, entry.generation)

    def namespace_of(self, uid: str) -> str:
        """Return the namespace of a ModelExport; empty if it does not exist."""
        entry = self._resources.get(uid)
        return entry.namespace if entry is not None else ""

    def job_of(self, uid: str) -> ObservedJob | None:
        """Return the Job of a ModelExport: the latest run, if a result was lost.

        Owner references across namespaces are invalid and ignored.
        """
        owner = self._resources.get(uid)
        jobs = [entry.job for entry in self._jobs.get(uid, {}).values()]
        own = [job for job in jobs if owner is None or job.namespace == owner.namespace]
        return max(own, key=lambda job: job.run, default=None)

    def keep_resources(self, seen: Iterable[str], version: str, namespace: str | None) -> set[str]:
        """Remove the ModelExports that are not in a complete list of this version; return them."""
        present, removed = set(seen), set()
        for uid, entry in list(self._resources.items()):
            listed = namespace is None or entry.namespace == namespace
            if listed and uid not in present and not _newer(entry.version, version):
                del self._resources[uid]
                removed.add(uid)
        return removed

    def keep_jobs(self, seen: Iterable[str], version: str, namespace: str | None) -> set[str]:
        """Remove the Jobs that are not in a complete list; return their ModelExports' uids."""
        present, orphans = set(seen), set()
        for owner, jobs in list(self._jobs.items()):
            for uid, entry in list(jobs.items()):
                listed = namespace is None or entry.job.namespace == namespace
                if listed and uid not in present and not _newer(entry.version, version):
                    del jobs[uid]
                    orphans.add(owner)
            if not jobs:
                del self._jobs[owner]
        return orphans

    def live(self) -> list[str]:
        """Return the uids of the ModelExports that need work: not finished, or not settled."""
        return [uid for uid, entry in self._resources.items() if self._is_live(uid, entry)]

    def _is_live(self, uid: str, entry: _Entry) -> bool:
        if not entry.settled:
            return True
        return any(not found.job.finished for found in self._jobs.get(uid, {}).values())

    def phases(self) -> Counter[str]:
        """Return the number of ModelExports by phase."""
        return Counter(entry.phase for entry in self._resources.values())

    def waiting_since(self) -> dict[str, float]:
        """Return the earliest time at which a ModelExport entered its state, by phase."""
        found: dict[str, float] = {}
        for entry in self._resources.values():
            found[entry.phase] = min(entry.since, found.get(entry.phase, entry.since))
        return found


def _since(body: Body) -> float:
    conditions = (body.get("status") or {}).get("conditions") or []
    times = [body["metadata"].get("creationTimestamp")]
    times += [entry.get("lastTransitionTime") for entry in conditions]
    known = [time for time in map(clock.parse, times) if time is not None]
    return max(known).timestamp() if known else 0.0


def _strip(body: Body) -> dict[str, Any]:
    kept = {key: value for key, value in body.items() if key != "metadata"}
    labels = body["metadata"].get("labels") or {}
    return {**kept, "metadata": {**_meta(body), "labels": names.queue_labels(labels)}}


def _strip_finished(body: Body) -> dict[str, Any]:
    status, spec = body["status"], body.get("spec") or {}
    conditions = [entry for entry in status["conditions"] if entry.get("type") in _ENDS]
    generation = status.get("observedGeneration")
    return {
        "metadata": _meta(body),
        "spec": {_TTL: spec[_TTL]} if spec.get(_TTL) is not None else {},
        "status": {"conditions": conditions, "observedGeneration": generation},
    }


def _is_settled(finished: Body) -> bool:
    seen = finished["status"]["observedGeneration"]
    return _TTL not in finished["spec"] and seen in {None, finished["metadata"].get("generation")}


def _meta(body: Body) -> dict[str, Any]:
    return {key: body["metadata"][key] for key in _KEPT_META if key in body["metadata"]}


def _newer(version: str, than: str) -> bool:
    """Compare resourceVersions; Kubernetes guarantees that they are increasing numbers."""
    if version.isdigit() and than.isdigit():
        return int(version) > int(than)
    return version != than
