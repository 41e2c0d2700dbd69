"""One kill from the beginning to the end: kill, look, run again, look, and run an hour later."""

from __future__ import annotations

import bisect
import contextlib
import io
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from unittest import mock

from bed.s3 import S3Server
from chaos.kills import checks
from chaos.kills.cases import Case, Change, Moment, Write
from chaos.kills.pod import Life, Pod, Victim
from chaos.kills.watcher import Watcher, open_uploads
from chaos.kills.workload import Job, Workload, make_job, upload_checkpoints
from chaos.kills.zygote import Zygote
from modelexport_api.pod import PodResult
from modelexport_api.reasons import ExitCode
from modelexport_api.resource import ModelExport
from modelexport_exporter.batch.run import Part, run_share, run_single
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.publish import clean_up
from throttling import Throttle, throttling

_WRITES = {"PUT", "POST", "DELETE"}
_PAUSE_SECONDS = 0.05
_EARLIER = 100
"""Numbers of checkpoints of which an earlier artifact is."""


@dataclass(frozen=True)
class Rehearsal:
    """A run without a kill: what there is to be hit."""

    lives: Mapping[Victim, Life]
    changes: Sequence[float]
    """When the stage changed, in seconds since the start."""
    writes: int

    def anchor(self, instant: Moment | Change, victim: Victim) -> tuple[int, float]:
        """Return the change of the stage before an instant (-1: none), and seconds after it.

        Under another load the seconds are others: the next change ends the wait.
        """
        if isinstance(instant, Change):
            return instant.number % len(self.changes), 0.0
        life = self.lives[Victim.SUPERVISOR if victim is Victim.ALL else victim]
        at = life.first + instant.fraction * (life.last - life.first)
        before = bisect.bisect(self.changes, at) - 1
        return before, at - (self.changes[before] if before >= 0 else 0.0)


@dataclass
class Outcome:
    """How a case ended; what was broken, by the columns of the table."""

    number: int
    kind: str
    killed_at: float | None
    """Seconds since the start of the pod; None: there was nothing to kill at the instant."""
    stage: str = ""
    looks: int = 0
    unnamed: int = 0
    """Contents of no manifest that were left for the run an hour later."""
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        return not (self.lost or self.doubled or self.wrong or self.leaked)


@dataclass(frozen=True)
class Study:
    """Kills of one workload on one S3 server. `items`: of a batch."""

    server: S3Server
    workload: Workload
    items: int = 3
    zygote: Zygote | None = None

    def rehearse(self, *, batch: bool, cold: bool) -> Rehearsal:
        """Run without a kill."""
        with self._job(batch=batch) as (job, proxy), self._pod(job, cold=cold) as pod:
            code = pod.wait()
            assert code == 0, "\n".join(pod.lines)
            writes = sum(line.partition(" ")[0] in _WRITES for line in proxy.passed)
            return Rehearsal(pod.lives, [change.seconds for change in pod.changes], writes)

    def run(self, case: Case, rehearsal: Rehearsal) -> Outcome:
        """Kill, and return what was broken."""
        with self._job(batch=case.kind.batch) as (job, proxy):
            if case.replaces:
                upload_checkpoints(job, self.server.client(), _EARLIER)
                run_here(job, as_another(job.resource, "earlier"))
                upload_checkpoints(job, self.server.client())
            with Watcher(self.server, job.bucket, tuple(job.sources)) as watcher:
                outcome = self._kill(case, rehearsal, job, proxy, watcher)
                if outcome.killed_at is not None:
                    self._go_on(case, job, watcher, outcome)
            outcome.looks = watcher.looks
            outcome.lost += watcher.lost
            outcome.wrong += watcher.wrong
            return outcome

    def _pod(self, job: Job, *, cold: bool) -> Pod:
        return Pod(job, self.server, None if cold else self.zygote)

    @contextlib.contextmanager
    def _job(self, *, batch: bool) -> Iterator[tuple[Job, Throttle]]:
        client, bucket = self.server.client(), self.server.bucket("kills")
        with (
            tempfile.TemporaryDirectory(prefix="kills-") as place,
            throttling(self.server.endpoint) as proxy,
        ):
            items = self.items if batch else 0
            yield (
                make_job(self.workload, client, bucket, proxy.endpoint, Path(place), items),
                proxy,
            )
        self.server.delete_bucket(bucket)

    def _kill(
        self, case: Case, rehearsal: Rehearsal, job: Job, proxy: Throttle, watcher: Watcher
    ) -> Outcome:
        kill = case.kind.kill
        with self._pod(job, cold=case.cold) as pod:
            timer = _arrange(case, rehearsal, pod, proxy)
            code = pod.wait()
            timer.set()
            proxy.turns_away = lambda _method, _path: False
            proxy.on_answer = lambda _method, _path: None
            outcome = Outcome(case.number, str(case.kind), pod.killed_at)
            outcome.stage = pod.killed_in
            if pod.killed_at is None:
                return outcome
            outcome.leaked += [f"process {pid} after the kill" for pid in pod.left()]
            outcome.wrong += checks.of_end(kill, code, pod.result, pod.lines)
            if kill.number is signal.SIGTERM and code == ExitCode.RETRYABLE:
                outcome.leaked += checks.files_left(job)
                outcome.leaked += open_uploads(watcher.server.client(), job.bucket)
            return outcome

    def _go_on(self, case: Case, job: Job, watcher: Watcher, outcome: Outcome) -> None:
        """Run again as the Job would, and then as the next resource of the same work."""
        before = watcher.in_force()
        if case.cold:
            with self._pod(job, cold=True) as pod:
                code, result = pod.wait(), pod.result
                outcome.leaked += [f"process {pid} of the next run" for pid in pod.left()]
                outcome.wrong += [] if code == 0 else [f"the next run ended with {code}"]
        else:
            result = run_here(job, job.resource)
        after = watcher.in_force()
        outcome.wrong += checks.of_result(job, result)
        outcome.doubled += checks.done_twice(job, before, after)
        outcome.lost += checks.missing(job, after)
        outcome.leaked += checks.files_left(job)
        client = watcher.server.client()
        outcome.leaked += [f"upload of {key}" for key in open_uploads(client, job.bucket)]
        outcome.unnamed, strays = checks.strays(client, job, after)
        outcome.leaked += strays
        with mock.patch.object(clean_up, "GRACE", timedelta(0)):
            result = run_here(job, as_another(job.resource, "later"))
        latest = watcher.in_force()
        outcome.wrong += checks.of_result(job, result)
        outcome.doubled += checks.done_twice(job, after, latest)
        outcome.wrong += checks.of_bytes(client, job, latest)
        unnamed, strays = checks.strays(client, job, latest)
        outcome.leaked += [*strays, *(["contents of no manifest"] if unnamed else [])]


def _arrange(case: Case, rehearsal: Rehearsal, pod: Pod, proxy: Throttle) -> threading.Event:
    """Let the signal come at its instant; return what ends the wait for it."""
    kill, over, lock = case.kind.kill, threading.Event(), threading.Lock()

    def strike() -> bool:
        with lock:
            return pod.killed_at is None and pod.kill(kill.victim, kill.number)

    if isinstance(case.instant, Write):
        _at_write(case.instant.of(rehearsal.writes), strike, proxy)
        return over
    anchor, seconds = rehearsal.anchor(case.instant, kill.victim)

    def later() -> None:
        if over.wait(seconds):
            return
        # Where the victim does not run yet: as soon as it does.
        while not strike() and pod.killed_at is None and not over.is_set():
            over.wait(_PAUSE_SECONDS)

    def on_change(number: int) -> None:
        if number == anchor:
            threading.Thread(target=later, daemon=True).start()
        elif number > anchor:
            strike()

    pod.on_change = on_change
    if anchor < 0:
        on_change(anchor)
    return over


def _at_write(place: tuple[int, bool], strike: Callable[[], bool], proxy: Throttle) -> None:
    number, is_done = place
    begun = answered = -1
    lock = threading.Lock()

    def before(method: str, _path: str) -> bool:
        nonlocal begun
        with lock:
            begun += method in _WRITES
            is_it = method in _WRITES and begun == number and not is_done
            return is_it and strike()

    def after(method: str, _path: str) -> None:
        nonlocal answered
        with lock:
            answered += method in _WRITES
            if method in _WRITES and answered == number and is_done:
                strike()

    proxy.turns_away, proxy.on_answer = before, after


def as_another(resource: ModelExport, uid: str) -> ModelExport:
    """Return another resource of the same spec: it has no journal of a batch."""
    metadata = resource.metadata.model_copy(update={"uid": uid})
    return resource.model_copy(update={"metadata": metadata})


def run_here(job: Job, resource: ModelExport) -> PodResult:
    """Run in this process, whose fork server has imported torch."""
    log = JsonLog(io.StringIO())
    with mock.patch.object(tempfile, "tempdir", str(job.temporary)):
        if job.is_batch:
            return run_share(resource, job.settings, log, Part()).result
        return run_single(resource, job.settings, log)
