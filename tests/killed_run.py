"""A pipeline in a process of its own that kills itself at one of its writes to the destination.

    python -m killed_run RESOURCE_JSON WORK_DIR KILL_AT

Write number KILL_AT (0, 1, …) is not done any more: SIGKILL comes just before it. Prints how many
writes there were when it was not killed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from modelexport_api.resource import ModelExport
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.storage.files import FileStore, PendingFile
from modelexport_exporter.storage.s3 import S3Store
from modelexport_exporter.storage.s3_upload import PendingPut, PendingUpload

WRITES = {
    FileStore: ("stage", "write", "write_if", "delete", "discard_staged"),
    S3Store: ("stage", "write", "write_if", "delete", "discard_staged"),
    PendingFile: ("publish",),
    PendingPut: ("publish",),
    PendingUpload: ("publish",),
}


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


def main(resource: str, work_dir: str, kill_at: str) -> int:
    killer = Killer(int(kill_at))
    for kind, names in WRITES.items():
        for name in names:
            setattr(kind, name, killer.before(getattr(kind, name)))
    settings = Settings(Path(work_dir), **SETTINGS, preload=("small_workers",))
    result = run(ModelExport.model_validate_json(resource), settings, JsonLog(sys.stderr))
    print(killer.count)
    return int(result.exit_code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
