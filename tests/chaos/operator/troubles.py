"""The kinds of trouble, and how each is made by what makes it in a cluster."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum

from bed.processes import BedError, Child
from chaos.operator.observer import UNREACHABLE, Node, Watch
from chaos.operator.place import Place
from cluster.operator.world import CRDS, World


class Trouble(StrEnum):
    """What happens at an instant."""

    KILL = "SIGKILL of the operator"
    STANDBY = "SIGKILL of the leader of two replicas"
    STOP = "SIGTERM to the operator"
    FREEZE = "API server without answers for 0.5 to 5 s"
    SLOW = "requests and events of watches late by 0.5 to 10 s, a fifth of them, for 5 to 15 s"
    RESTART = "SIGKILL of the API server, which starts again after 0 to 3 s"
    JOB = "a Job deleted by hand"
    POD = "a pod deleted while it runs"
    ERRORS = "409, 410, 429 or 500 for a third of the operator's requests, for 2 to 6 s"
    COMPACT = "etcd compacted, and the API server killed, while the operator is cut off"
    CLOCK = "the operator's wall clock jumps to up to an hour before or after the right time"
    CRDS = "the CRDs deleted, and applied again after 0 to 40 s"
    NODE = "a node vanishes with its pods"


OF_REPLICAS = {Trouble.KILL, Trouble.STANDBY, Trouble.STOP}
PROXIED = {Trouble.SLOW, Trouble.ERRORS, Trouble.COMPACT}
"""The operator reaches the API server by way of the proxy."""
_SHARE = 0.35
_LATE_SHARE = 0.2
_HOUR = 3600


@dataclass
class Maker:
    """Makes each kind of trouble but those of replicas."""

    place: Place
    world: World
    node: Node
    watch: Watch
    draw: random.Random
    tend: Callable[[], None]
    """Starts the replicas again that ended, as the kubelet does."""
    create_again: Callable[[], None]
    """Creates the exports again that are gone, as GitOps does."""

    def make(self, trouble: Trouble) -> None:
        """Make it once."""
        makers = {
            Trouble.FREEZE: self.freeze,
            Trouble.SLOW: self.slow_down,
            Trouble.RESTART: self.restart,
            Trouble.JOB: self.delete_a_job,
            Trouble.POD: self.delete_a_pod,
            Trouble.ERRORS: self.answer_errors,
            Trouble.COMPACT: self.compact,
            Trouble.CLOCK: self.set_clock,
            Trouble.CRDS: self.remove_crds,
            Trouble.NODE: self.lose_node,
        }
        makers[trouble]()

    def freeze(self) -> None:
        """Stop the API server for a while."""
        server = self._child("kube-apiserver")
        os.killpg(server.pid, signal.SIGSTOP)
        try:
            time.sleep(self.draw.uniform(0.5, 5))
        finally:
            os.killpg(server.pid, signal.SIGCONT)

    def slow_down(self) -> None:
        """Let the proxy delay a share of requests, answers and events."""
        with self.place.proxy.slow(_LATE_SHARE, random.Random(self.draw.random())):
            self._pass(self.draw.uniform(5, 15))

    def restart(self) -> None:
        """Kill the API server; it starts again."""
        with self._api_server_down():
            time.sleep(self.draw.uniform(0, 3))

    def answer_errors(self) -> None:
        """Let the proxy answer a share of the requests, and expire the watches."""
        with self.place.proxy.errors(_SHARE, random.Random(self.draw.random())):
            self._pass(self.draw.uniform(2, 6))

    def compact(self) -> None:
        """Compact what the operator's watches would resume from, in etcd and in the API server.

        The API server answers watches from memory, which begins at its start.
        """
        with self.place.proxy.cut():
            time.sleep(self.draw.uniform(0.2, 1.5))  # something changes meanwhile
            with self._api_server_down():
                self._compact_etcd()
            _until_answers(self.world.all_jobs)
            time.sleep(self.draw.uniform(0, 1))

    def set_clock(self) -> None:
        """Let the operator's wall clock jump; it stays so until the next jump."""
        if self.place.clock is None:
            raise BedError("no C compiler: the clock of the operator cannot be set")
        self.place.clock.set(self.draw.randint(-_HOUR, _HOUR))

    def remove_crds(self) -> None:
        """Delete the CRDs, and with them all exports; apply them again."""
        plane = self.place.plane
        plane.kubectl("delete", "--filename", CRDS, "--timeout=60s")
        # One in three is longer than the operator waits for them.
        self._pass(self.draw.choice([self.draw.uniform(0, 5), self.draw.uniform(5, 20), 40]))
        plane.kubectl("apply", "--filename", CRDS)
        plane.wait_for_crds()
        self.create_again()

    def lose_node(self) -> None:
        """Delete the node; the garbage collector of pods fails and deletes those it ran."""
        self.node.vanish()

    def delete_a_pod(self) -> None:
        """Delete a pod that runs, if there is one; its Job creates another."""
        with suppress(*UNREACHABLE):
            running = [
                pod["metadata"]["name"]
                for pod in self.world.all_pods()
                if pod.get("status", {}).get("phase") == "Running"
            ]
            if running:
                self.world.delete_pod(self.draw.choice(running))

    def delete_a_job(self) -> None:
        """Delete the Job of an export that runs, if there is one."""
        running = [name for name, one in self.watch.histories.items() if not one.ended]
        for name in self.draw.sample(running, len(running)):
            with suppress(*UNREACHABLE):
                if self.world.export(name).get("status", {}).get("phase") != "Running":
                    continue
                for job in self.world.jobs(name):
                    if "deletionTimestamp" not in job["metadata"]:
                        self.watch.note_deleted(name, job["metadata"]["uid"])
                        self.world.delete_job(job["metadata"]["name"])
                        return

    def _pass(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.tend()
            time.sleep(min(0.2, left))

    @contextmanager
    def _api_server_down(self) -> Iterator[None]:
        server = self._child("kube-apiserver")
        command = _command(server)
        server.stop(grace=0)
        run = self.place.plane.run
        run.children.remove(server)
        try:
            yield
        finally:
            run.spawn(server.name, command)

    def _compact_etcd(self) -> None:
        command = _command(self._child("etcd"))
        url = str(command[command.index("--listen-client-urls") + 1])
        # Any answer has the newest revision.
        revision = _post(f"{url}/v3/kv/range", {"key": "AA=="})["header"]["revision"]
        _post(f"{url}/v3/kv/compaction", {"revision": revision, "physical": True})

    def _child(self, name: str) -> Child:
        return next(one for one in self.place.plane.run.children if one.name == name)


def _command(child: Child) -> list[str]:
    assert isinstance(child.process, subprocess.Popen)
    command = child.process.args
    assert isinstance(command, list)
    return [str(word) for word in command]


def _post(url: str, body: dict[str, object]) -> dict[str, dict[str, str]]:
    """Call etcd's gateway from JSON to gRPC."""
    data = json.dumps(body).encode()
    with urllib.request.urlopen(url, data=data, timeout=20) as answer:
        found: dict[str, dict[str, str]] = json.load(answer)
        return found


def _until_answers(ask: Callable[[], object], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with suppress(*UNREACHABLE):
            ask()
            return
        time.sleep(0.1)
    raise BedError(f"the API server did not answer for {seconds:.0f} s")
