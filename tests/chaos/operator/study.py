"""A round: exports on a control plane, and trouble for the operator at drawn instants."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum

from bed.control_plane import ControlPlane
from bed.processes import BedError, Child
from chaos.operator.observer import UNREACHABLE, Node, Watch
from chaos.operator.promises import Broken, Script, broken, together
from cluster.operator.replica import Operators, Replica
from cluster.operator.world import World, eventually
from modelexport_api.reasons import ExitCode, Reason

SUCCEEDS = Script("Succeeded", "", (ExitCode.DONE,))
SCRIPTS = (
    SUCCEEDS,
    SUCCEEDS,
    Script("Succeeded", "", (ExitCode.RETRYABLE, ExitCode.DONE)),
    Script("Failed", Reason.VERIFICATION_FAILED, (ExitCode.VERIFICATION,)),
    Script("Failed", Reason.VERIFICATION_FAILED, (ExitCode.RETRYABLE, ExitCode.VERIFICATION)),
)
END_SECONDS = 180
"""After the last trouble; a machine that does other things is slow."""


class Trouble(StrEnum):
    """What happens at an instant."""

    KILL = "SIGKILL of the operator"
    STANDBY = "SIGKILL of the leader of two replicas"
    STOP = "SIGTERM to the operator"
    FREEZE = "API server without answers for 0.5 to 5 s"
    RESTART = "SIGKILL of the API server, which starts again after 0 to 3 s"
    JOB = "a Job deleted by hand"
    POD = "a pod deleted while it runs"


@dataclass(frozen=True)
class Outcome:
    """How a round ended."""

    trouble: Trouble
    instants: tuple[float, ...]
    """In s after the operator began to lead, each."""
    exports: int
    broken: Broken


class Round:
    """Makes one kind of trouble several times while exports run, and checks what was promised."""

    def __init__(self, plane: ControlPlane, operators: Operators, seed: int) -> None:
        self._plane, self._operators = plane, operators
        self._world = World(plane, operators.namespace)
        self._draw = random.Random(seed)
        self._watch = Watch(self._world)
        self._replicas: list[Replica] = []

    def run(self, trouble: Trouble, exports: int, times: int) -> Outcome:
        """Return how it ended."""
        scripts = {f"e-{n:03}": SCRIPTS[n % len(SCRIPTS)] for n in range(exports)}
        self._watch.start()
        for _ in range(2 if trouble is Trouble.STANDBY else 1):
            self._start()
        creator = threading.Thread(target=self._create, args=(list(scripts), times), daemon=True)
        with Node(self._world, scripts, random.Random(self._draw.random())).running():
            creator.start()
            instants = tuple(self._one(trouble) for _ in range(times))
            creator.join()
            with suppress(AssertionError):
                eventually(lambda: self._have_ended(exports), "all end", END_SECONDS)
        self._read_events(scripts)
        self._watch.close()
        found = [broken(name, one, self._watch.histories[name]) for name, one in scripts.items()]
        return Outcome(trouble, instants, exports, together(found))

    def _create(self, names: list[str], times: int) -> None:
        """Create the exports over the time of the trouble."""
        for name in names:
            _until_done(lambda name=name: self._world.create(name))  # type: ignore[misc]
            time.sleep(self._draw.uniform(0, 2 * times / len(names)))

    def _one(self, trouble: Trouble) -> float:
        eventually(self._one_leads, "one leads", 60)
        instant = self._draw.uniform(0, 3)
        time.sleep(instant)
        if trouble is Trouble.FREEZE:
            with self._frozen_api_server():
                time.sleep(self._draw.uniform(0.5, 5))
        elif trouble is Trouble.RESTART:
            self._restart_api_server()
        elif trouble is Trouble.JOB:
            self._delete_a_job()
        elif trouble is Trouble.POD:
            self._delete_a_pod()
        else:
            leader = next((one for one in self._replicas if one.leads()), self._replicas[0])
            self._replicas.remove(leader)
            leader.terminate() if trouble is Trouble.STOP else leader.kill()
            self._start()
        return instant

    def _one_leads(self) -> bool:
        self._start_again()
        return any(one.leads() for one in self._replicas)

    def _have_ended(self, exports: int) -> bool:
        self._start_again()
        return self._watch.all_ended(exports)

    def _start_again(self) -> None:
        """Start a replica for each that ended, as the kubelet does: a leader without Lease ends."""
        for ended in [one for one in self._replicas if not one.child.running]:
            self._replicas.remove(ended)
            self._start()

    def _start(self) -> None:
        name = f"operator-{self._operators.count % 2}"
        self._replicas.append(self._operators.start(name))

    @contextmanager
    def _frozen_api_server(self) -> Iterator[None]:
        server = self._api_server()
        os.killpg(server.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(server.pid, signal.SIGCONT)

    def _restart_api_server(self) -> None:
        server = self._api_server()
        assert isinstance(server.process, subprocess.Popen)
        command = server.process.args
        assert isinstance(command, list)
        server.stop(grace=0)
        self._plane.run.children.remove(server)
        time.sleep(self._draw.uniform(0, 3))
        self._plane.run.spawn(server.name, command)

    def _api_server(self) -> Child:
        return next(one for one in self._plane.run.children if one.name == "kube-apiserver")

    def _delete_a_pod(self) -> None:
        """Delete a pod that runs, if there is one; its Job creates another."""
        with suppress(*UNREACHABLE):
            running = [
                pod["metadata"]["name"]
                for pod in self._world.all_pods()
                if pod.get("status", {}).get("phase") == "Running"
            ]
            if running:
                self._world.delete_pod(self._draw.choice(running))

    def _delete_a_job(self) -> None:
        """Delete the Job of an export that runs, if there is one."""
        running = [name for name, one in self._watch.histories.items() if not one.ended]
        for name in self._draw.sample(running, len(running)):
            with suppress(*UNREACHABLE):
                if self._world.export(name).get("status", {}).get("phase") != "Running":
                    continue
                for job in self._world.jobs(name):
                    if "deletionTimestamp" not in job["metadata"]:
                        self._watch.note_deleted(name, job["metadata"]["uid"])
                        self._world.delete_job(job["metadata"]["name"])
                        return

    def _read_events(self, scripts: dict[str, Script]) -> None:
        """Count the Events of the ends, which the operator creates after the status."""
        for name, script in scripts.items():
            history, reason = self._watch.histories[name], script.reason or "Complete"
            if not history.ended:
                continue

            def count(name: str = name, reason: str = reason) -> int:
                return sum(event["reason"] == reason for event in self._world.events(name))

            with suppress(AssertionError):
                eventually(count, "an Event of the end", 10)
            history.end_events = count()


def _until_done(act: Callable[[], object]) -> None:
    deadline = time.monotonic() + END_SECONDS
    while True:
        try:
            act()
        except UNREACHABLE as error:
            if getattr(error, "status", 0) == 409:  # it was created, and the answer got lost
                return
            if time.monotonic() > deadline:
                raise BedError(f"the API server does not answer: {error}") from error
            time.sleep(0.1)
        else:
            return
