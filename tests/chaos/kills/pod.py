"""A pod's process under observation: what it reports, and which processes are below it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from bed.s3 import S3Server
from chaos.kills.workload import Job
from chaos.kills.zygote import ForkedPod, Zygote
from modelexport_api.pod import PodResult, parse_log_line
from modelexport_exporter.isolation import descendants

_LOOK_SECONDS = 0.05
_LONGEST_SECONDS = 500
_END = b"end\n"
_GRACE_SECONDS = 5
"""After a kill, until all processes must have ended."""


class Victim(StrEnum):
    """A process of a pod."""

    SUPERVISOR = "the supervisor"
    FORK_SERVER = "the fork server"
    EXPORT_WORKER = "the export worker"
    REFERENCE = "the reference"
    """The process of the original model; of small workers, the one that verifies."""
    JUDGE = "the judge"
    ALL = "all processes"


@dataclass
class Life:
    """When a process was seen first and last, in seconds since the start of its pod."""

    first: float
    last: float


@dataclass(frozen=True)
class StageChange:
    """The first line of a stage in the log."""

    stage: str
    seconds: float
    """Since the start."""


@dataclass
class Pod:
    """One process of the pod's entry point; `on_change` is called at each change of the stage."""

    job: Job
    server: S3Server
    zygote: Zygote | None = None
    """Forks it; None: it is executed."""
    on_change: Callable[[int], None] = lambda _number: None
    changes: list[StageChange] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    workers: list[int] = field(default_factory=list)
    """In the order in which they were started."""
    fork_server: int | None = None
    known: set[int] = field(default_factory=set)
    lives: dict[Victim, Life] = field(default_factory=dict)
    killed_at: float | None = None
    """Seconds since its start."""
    killed_in: str = "start"
    """The stage."""

    def __enter__(self) -> Pod:
        self._siblings = _children_of(os.getpid())
        self.job.termination.unlink(missing_ok=True)
        log = self.job.place / "log"
        log.unlink(missing_ok=True)
        os.mkfifo(log)
        # Open for writing here, too, so that reading waits for the pod and not the pod for reading.
        self._log = os.fdopen(os.open(log, os.O_RDWR), "r+b", buffering=0)
        self.started = time.monotonic()
        self.process = self._start(log)
        self.known.add(self.process.pid)
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=act) for act in (self._read, self._look)]
        for thread in self._threads:
            thread.start()
        return self

    def _start(self, log: Path) -> subprocess.Popen[bytes] | ForkedPod:
        environment = self.job.environment(self.server)
        if self.zygote is not None:
            return self.zygote.fork(log, environment)
        command = [sys.executable, "-m", self.job.workload.module]
        with log.open("wb") as output:
            return subprocess.Popen(command, env=environment, stderr=output)

    def __exit__(self, *_: object) -> None:
        """End what is left: a test that failed leaves nothing either."""
        for pid in self.left():
            _signal(pid, signal.SIGKILL)
        self.process.wait()
        self._ended.set()
        self._log.write(_END)
        for thread in self._threads:
            thread.join()
        self._log.close()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def result(self) -> PodResult | None:
        """Return what it wrote for the kubelet."""
        if not self.job.termination.exists():
            return None
        return PodResult.model_validate_json(self.job.termination.read_text())

    def wait(self) -> int | None:
        """Return the exit code; None if it does not end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(_LONGEST_SECONDS)
        return None

    def kill(self, victim: Victim, number: signal.Signals) -> bool:
        """Send a signal to a process that runs; return whether there was one."""
        if self.process.poll() is not None:
            return False
        pids = self._pids_of(victim)
        self.known |= {*pids}
        if victim is Victim.ALL:
            # So that none sees another one end, as on a node that is gone.
            for pid in pids:
                _signal(pid, signal.SIGSTOP)
        reached = [_signal(pid, number) for pid in pids]
        if any(reached):
            self.killed_at = self.seconds
            self.killed_in = self.changes[-1].stage if self.changes else self.killed_in
        return any(reached)

    def left(self) -> list[int]:
        """Return the processes of this pod that run, after a grace; itself, too."""
        deadline = time.monotonic() + _GRACE_SECONDS
        while True:
            adopted = _children_of(os.getpid()) - self._siblings
            self.known |= adopted
            for pid in adopted - {self.process.pid}:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            running = [pid for pid in sorted(self.known) if descendants.is_running(pid)]
            if not running or time.monotonic() > deadline:
                return running
            time.sleep(_LOOK_SECONDS)

    def _pids_of(self, victim: Victim) -> list[int]:
        self._look_once()
        match victim:
            case Victim.SUPERVISOR:
                return [self.process.pid]
            case Victim.FORK_SERVER:
                return [self.fork_server] if self.fork_server else []
            case Victim.EXPORT_WORKER:
                return self.workers[:1]
            case Victim.REFERENCE:
                return self.workers[1:2]
            case Victim.JUDGE:
                return self.workers[2:3]
            case Victim.ALL:
                running = descendants.below(self.process.pid, descendants.parents_of_processes())
                return [*running, self.process.pid]

    def _read(self) -> None:
        for raw in iter(self._log.readline, _END):
            text = raw.decode(errors="replace")
            self.lines.append(text)
            line = parse_log_line(text)
            if line is None or line.progress is None:
                continue
            if not self.changes or self.changes[-1].stage != line.progress.stage:
                self.changes.append(StageChange(line.progress.stage, self.seconds))
                self.on_change(len(self.changes) - 1)

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self._look_once()

    def _look_once(self) -> None:
        parents = descendants.parents_of_processes()
        pid, now = self.process.pid, self.seconds
        if pid not in parents or self.process.poll() is not None:
            return
        below = descendants.below(pid, parents)
        self.known |= below
        servers = [one for one in below if parents[one] == pid and _is_fork_server(one)]
        self.fork_server = servers[0] if servers else self.fork_server
        for one in sorted(below - {*self.workers}):
            if parents[one] == self.fork_server:
                self.workers.append(one)
        self._note(Victim.SUPERVISOR, now, runs=True)
        self._note(Victim.FORK_SERVER, now, runs=bool(servers))
        self._note(Victim.EXPORT_WORKER, now, runs=bool(below & {*self.workers[:1]}))
        self._note(Victim.REFERENCE, now, runs=bool(below & {*self.workers[1:2]}))
        self._note(Victim.JUDGE, now, runs=bool(below & {*self.workers[2:3]}))

    def _note(self, victim: Victim, now: float, *, runs: bool) -> None:
        if runs:
            self.lives.setdefault(victim, Life(now, now)).last = now


def _is_fork_server(pid: int) -> bool:
    try:
        # A fork of the zygote has its command line.
        return b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _children_of(parent: int) -> set[int]:
    parents = descendants.parents_of_processes()
    return {pid for pid, above in parents.items() if above == parent}


def _signal(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
