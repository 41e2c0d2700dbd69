"""A pipeline in a process of its own that kills itself at one of its writes to the destination.

    python -m killed_run RESOURCE_JSON WORK_DIR [once]

With `once` it runs in this process, and is not killed. Without, each line of standard input is a
number KILL_AT (0, 1, …), and the pipeline runs in a fork of this process, whose imports take longer
than a run. Write number KILL_AT is not done any more: SIGKILL comes just before it. The answer is
a line with the exit code, negative for a signal.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TypedDict

from bed.processes import ask
from modelexport_api.resource import ModelExport
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.publish import clean_up
from modelexport_exporter.storage.s3 import S3Store
from modelexport_exporter.storage.s3_upload import PendingPut, PendingUpload
from modelexport_exporter.storage.tree_store import TreeStore
from modelexport_exporter.storage.tree_writing import PendingFile

_OF_A_STORE = ("stage", "copy", "write", "write_if", "delete", "discard_staged")
WRITES = {
    **dict.fromkeys((TreeStore, S3Store), _OF_A_STORE),
    PendingFile: ("publish",),
    PendingPut: ("publish",),
    PendingUpload: ("publish",),
}


NEVER = -1
"""No write has this number."""


class Entries(TypedDict):
    """The workers of a run."""

    export_entry: str
    verify_entry: str


SETTINGS = Entries(export_entry="small_workers:export", verify_entry="small_workers:verify")


class Killer:
    """Counts writes, and kills this process at one of them."""

    def __init__(self, kill_at: int) -> None:
        self.kill_at = kill_at
        self.count = 0

    def before(self, write: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object, **named: object) -> object:
            if self.count == self.kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            self.count += 1
            return write(*arguments, **named)

        return counted


@dataclass
class KilledRuns:
    """Runs of a pipeline, from the test that reads what they left."""

    process: subprocess.Popen[str]

    def run(self, kill_at: int) -> int:
        """Return the exit code of a run that is killed just before that write."""
        return int(ask(self.process, str(kill_at)))


@contextmanager
def killed_runs(resource: ModelExport, work_dir: Path) -> Iterator[KilledRuns]:
    """Start the process whose forks are the runs; what they log goes to this process's log."""
    with subprocess.Popen(
        command(resource, work_dir),
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield KilledRuns(process)


def environment() -> dict[str, str]:
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def command(resource: ModelExport, work_dir: Path) -> list[str]:
    """Return the command line of this module."""
    manifest = resource.model_dump_json(by_alias=True)
    return [sys.executable, "-m", "killed_run", manifest, str(work_dir)]


def run_once(resource: str, work_dir: str, kill_at: int) -> int:
    """Return the exit code of a run that was not killed."""
    clean_up.GRACE = timedelta(0)
    killer = Killer(kill_at)
    for kind, names in WRITES.items():
        for name in names:
            setattr(kind, name, killer.before(getattr(kind, name)))
    settings = Settings(Path(work_dir), **SETTINGS, preload=("small_workers",))
    result = run(ModelExport.model_validate_json(resource), settings, JsonLog(sys.stderr))
    return int(result.exit_code)


def main(resource: str, work_dir: str, once: str = "") -> None:
    if once:
        sys.exit(run_once(resource, work_dir, NEVER))
    for line in sys.stdin:
        run = os.fork()
        if run == 0:
            os._exit(run_once(resource, work_dir, int(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(run, 0)[1]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
