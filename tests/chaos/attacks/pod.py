"""One run of the pod's process, started as the operator's Job does, and what it left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bed.s3 import S3Server
from modelexport_api.pod import CONTAINER, PodResult
from modelexport_api.resource import ModelExport
from modelexport_exporter.pod import INDEX_ENV, TERMINATION_LOG_ENV, WORK_DIR_ENV
from modelexport_operator import job
from modelexport_operator.settings import Settings

RUN_ENV = "MODELEXPORT_CHAOS_RUN"
"""Set for the pod's process; what it starts inherits it, and is found by it."""
_MOMENT_SECONDS = 3
_NO_CAPABILITIES = ("setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all")
"""As the container: capabilities dropped, no privileges gained."""


@dataclass
class Machine:
    """The directories of a pod, and what near them is not the model's."""

    root: Path
    canaries: dict[str, str]
    """Secrets by what they are."""

    def __post_init__(self) -> None:
        self.work, self.outside = self.root / "work", self.root / "outside"
        self.other = self.work / "modelexport-run-other"
        self.termination = self.root / "termination-log"
        self.token = self.root / "tokens" / "token"
        for path in (self.other, self.outside, self.token.parent / "..1", self.work / ".aws"):
            path.mkdir(parents=True)
        # As the kubelet mounts it.
        (self.token.parent / "..1" / "token").write_text(self.canaries["token"])
        (self.token.parent / "..data").symlink_to("..1")
        self.token.symlink_to("..data/token")
        profile = f"[other]\naws_secret_access_key = {self.canaries['profile']}\n"
        (self.work / ".aws" / "credentials").write_text(profile)
        (self.other / "checkpoint").write_text(self.canaries["other run"])
        (self.outside / "there").write_text("untouched")
        # Held as a run that is alive does, so that no other one removes it.
        (self.other / "lock").touch()

    @property
    def is_untouched(self) -> bool:
        """Whether files that are not the run's are as they were."""
        names = [path.name for path in self.outside.iterdir()]
        mine = (self.outside / "there").read_text(), (self.other / "checkpoint").read_text()
        return names == ["there"] and mine == ("untouched", self.canaries["other run"])

    @property
    def left_over(self) -> list[str]:
        """Directories of the run that are still there."""
        found = [path.name for path in self.work.glob("*modelexport-run-*")]
        return [name for name in found if name != self.other.name]


@dataclass
class Ended:
    """A run that ended, or was ended because it did not."""

    exit_code: int | None
    """None: it was killed after its time."""
    log: bytes
    termination: bytes
    seconds: float
    alive: list[str]
    """Processes of the run after its end."""
    machine: Machine
    objects: dict[str, bytes] = field(default_factory=dict)
    """What is in the bucket, by key."""

    @property
    def result(self) -> PodResult | None:
        """What the operator reads; None if it is no result."""
        try:
            return PodResult.model_validate_json(self.termination)
        except ValueError:
            return None


@contextmanager
def machine(canaries: dict[str, str]) -> Iterator[Machine]:
    """Make the directories of a pod; they are gone afterwards."""
    root = Path(tempfile.mkdtemp(prefix="mx-chaos-"))
    try:
        made = Machine(root, canaries)
        with (made.other / "lock").open("r+") as lock:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
            yield made
    finally:
        shutil.rmtree(root, ignore_errors=True)


def environment(resource: ModelExport, server: S3Server, on: Machine) -> dict[str, str]:
    """Return the variables of the Job's container, on this machine's paths."""
    template = job.build(resource, Settings.model_validate({"exporterImage": "x"}))["spec"]
    (container,) = template["template"]["spec"]["containers"]
    assert container["name"] == CONTAINER
    own = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    return {
        **kept,
        **own,
        **server.environment(),
        "HOME": str(on.work),
        "XDG_CACHE_HOME": str(on.work / ".cache"),
        "AWS_WEB_IDENTITY_TOKEN_FILE": str(on.token),
        "AWS_CHAOS_SECRET": on.canaries["variable"],
        "OMP_NUM_THREADS": "1",
        WORK_DIR_ENV: str(on.work),
        TERMINATION_LOG_ENV: str(on.termination),
        INDEX_ENV: "0",
        RUN_ENV: on.root.name,
    }


def run(manifest: dict[str, Any], server: S3Server, on: Machine, seconds: float) -> Ended:
    """Run the pod's process until it ends, at most so long; return what it left."""
    resource = ModelExport.model_validate(manifest)
    on.termination.touch()
    begun = time.monotonic()
    with (on.root / "log").open("wb") as log:
        process = subprocess.Popen(
            [*_NO_CAPABILITIES, sys.executable, "-m", "modelexport_exporter"],
            env=environment(resource, server, on),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
            process.kill()
            process.wait()
    took = time.monotonic() - begun
    alive = _left_after(on.root.name)
    end_all(on.root.name)
    return Ended(
        code,
        (on.root / "log").read_bytes(),
        on.termination.read_bytes(),
        took,
        [*alive.values()],
        on,
    )


def _left_after(name: str) -> dict[int, str]:
    """Return what of a run goes on; what ends with the supervisor takes a moment to do so."""
    deadline = time.monotonic() + _MOMENT_SECONDS
    while (left := processes_of(name)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def processes_of(name: str) -> dict[int, str]:
    """Return the processes that inherited the name of a run, with their command lines."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"{RUN_ENV}={name}".encode() in (entry / "environ").read_bytes():
                    found[int(entry.name)] = (entry / "cmdline").read_text()[:200]
            except OSError:
                continue
    return found


def end_all(name: str) -> None:
    """End what is left of a run, so that the next one is measured alone."""
    while left := processes_of(name):
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.05)
