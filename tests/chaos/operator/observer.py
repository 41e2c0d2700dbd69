"""Threads beside the operator: one watches what it does, one is the node that runs the pods."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import kubernetes.watch
import urllib3
from kubernetes.client.exceptions import ApiException

from chaos.operator.promises import History, Script
from cluster.operator.world import SUCCESS, World, failure
from modelexport_api import GROUP, PLURAL, VERSION
from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_operator import names

UNREACHABLE = (ApiException, urllib3.exceptions.HTTPError, OSError)
"""What a client gets while the API server is away, or when an object changed or is gone."""
_REFUSED = failure(Reason.VERIFICATION_FAILED, Stage.VERIFY, [Stage.FETCH, Stage.LOAD])
_UNAVAILABLE = failure(Reason.STORE_UNAVAILABLE, Stage.FETCH, [])
_PAUSE = 0.05
KILLED = 137
"""The exit code of a container that the kubelet ends because its pod was deleted."""


def _stream(listing: Callable[..., Any], *where: str, **which: str) -> Iterator[dict[str, Any]]:
    watch: Any = kubernetes.watch.Watch  # it has no types
    events: Iterator[dict[str, Any]] = watch().stream(listing, *where, timeout_seconds=20, **which)
    return events


class Watch:
    """Keeps the history of each export of a namespace, over outages of the API server."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.histories: dict[str, History] = {}
        """Of the exports that exist, by name."""
        self._jobs_first: dict[str, set[str]] = {}
        """UIDs of Jobs that were seen before their export, by its UID."""
        self.deleted = 0
        """Exports that were deleted, each counted once."""
        self._threads = [
            threading.Thread(target=self._follow, args=(kind,), daemon=True)
            for kind in (self._exports, self._jobs)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()

    def all_ended(self, wanted: int) -> bool:
        with self._lock:
            return sum(one.ended for one in self.histories.values()) >= wanted

    def note_deleted(self, name: str, job: str) -> None:
        """Note that a person deletes a Job."""
        with self._lock:
            self.histories[name].deleted_by_hand.add(job)

    def _saw_export(self, meta: dict[str, Any], status: dict[str, Any]) -> None:
        name, uid = meta["name"], meta["uid"]
        if self.histories.get(name, History()).uid != uid:
            self.histories[name] = History(uid)
        history = self.histories[name]
        history.saw_status(status)
        for job in self._jobs_first.pop(uid, ()):
            history.jobs.setdefault(job, False)

    def _saw_deletion(self, name: str, uid: str) -> None:
        if name in self.histories and self.histories[name].uid == uid:
            del self.histories[name]
            self.deleted += 1

    def _saw_job(self, export: str, export_uid: str, job: str) -> None:
        history = self.histories.get(export)
        if history is not None and history.uid == export_uid:
            history.saw_job(job)
        else:
            self._jobs_first.setdefault(export_uid, set()).add(job)

    def _follow(self, kind: Callable[[], Iterator[None]]) -> None:
        while not self._stop.is_set():
            try:
                for _ in kind():
                    if self._stop.is_set():
                        return
            except UNREACHABLE:
                time.sleep(_PAUSE)

    def _exports(self) -> Iterator[None]:
        listing = self._world.custom.list_namespaced_custom_object
        where = (GROUP, VERSION, self._world.namespace, PLURAL)
        for event in _stream(listing, *where):
            found, meta = event["object"], event["object"].get("metadata", {})
            with self._lock:
                if event["type"] in {"ADDED", "MODIFIED"}:
                    self._saw_export(meta, found.get("status", {}))
                elif event["type"] == "DELETED":
                    self._saw_deletion(meta["name"], meta["uid"])
            yield

    def _jobs(self) -> Iterator[None]:
        listing = self._world.batch.list_namespaced_job
        for event in _stream(listing, self._world.namespace, label_selector=names.UID_LABEL):
            meta = event["raw_object"]["metadata"]
            if event["type"] == "ADDED":
                labels = meta["labels"]
                with self._lock:
                    self._saw_job(labels[names.NAME_LABEL], labels[names.UID_LABEL], meta["uid"])
            yield


class Node:
    """Runs each pod for a drawn time, and ends it as the script of its export says."""

    def __init__(self, world: World, scripts: Mapping[str, Script], draw: random.Random) -> None:
        self._world, self._scripts, self._draw = world, scripts, draw
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._node, self._nodes = "nowhere", 0
        self.lost = 0
        """Pods that ran on nodes that vanished."""
        self._due: dict[str, float] = {}
        self._ended: dict[str, list[str]] = {}
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @contextmanager
    def running(self) -> Iterator[None]:
        self._thread.start()
        yield
        self._stop.set()
        self._thread.join()

    def join(self) -> None:
        """Add a node to the cluster, which runs the pods that are not bound yet."""
        self._nodes += 1
        self._node = f"{self._world.namespace}-{self._nodes}"
        self._world.add_node(self._node)

    def vanish(self) -> None:
        """Lose the node with its kubelet; another one joins."""
        with self._lock:
            lost = self._node
            self.lost += sum(
                pod["spec"].get("nodeName") == lost
                and pod.get("status", {}).get("phase") == "Running"
                for pod in self._world.all_pods()
            )
            self.join()
            self._world.remove_node(lost)

    def _serve(self) -> None:
        while not self._stop.wait(_PAUSE):
            try:
                for pod in self._world.all_pods():
                    with self._lock:
                        self._advance(pod)
            except UNREACHABLE:
                continue

    def _advance(self, pod: dict[str, Any]) -> None:
        name, phase = pod["metadata"]["name"], pod.get("status", {}).get("phase")
        if pod["spec"].get("nodeName", self._node) != self._node:
            return  # no kubelet is left there
        due = self._due.setdefault(f"{name} {phase}", time.monotonic() + self._draw.uniform(0, 2))
        if time.monotonic() < due:
            return
        if "deletionTimestamp" in pod["metadata"]:
            if phase == "Running":
                self._world.end_pod(name, KILLED)
        elif phase == "Pending":
            self._world.run_pod(name, bound="nodeName" in pod["spec"], node=self._node)
        elif phase == "Running":
            labels = pod["metadata"]["labels"]
            self._end(name, labels[names.NAME_LABEL], labels[names.UID_LABEL])

    def _end(self, pod: str, export: str, uid: str) -> None:
        ended, script = self._ended.setdefault(uid, []), self._scripts[export]
        if pod not in ended:
            ended.append(pod)
        code = script.pods[min(ended.index(pod), len(script.pods) - 1)]
        last = ended.index(pod) >= len(script.pods) - 1
        result = SUCCESS if code == 0 else _REFUSED if last else _UNAVAILABLE
        self._world.end_pod(pod, code, result)
