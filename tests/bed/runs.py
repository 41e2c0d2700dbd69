"""A running bed: one directory, and a record of everything that has to go away with it.

The record is written before the thing it names exists, so a predecessor that was killed at any
instruction can be cleaned up by the next run, by the same code that ends a healthy run.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from bed import processes, sweep
from bed.processes import Child

_PREFIX = "modelexport-bed-"


def parent_directory() -> Path:
    """Where run directories are made: on disk, because images are unpacked there."""
    return Path(os.environ.get("TMPDIR") or "/var/tmp")


@dataclass
class Run:
    """The directory, processes and kernel objects of one bed."""

    directory: Path
    children: list[Child] = field(default_factory=list)

    @classmethod
    def open(cls, level: str) -> Run:
        parent = parent_directory()
        hidden = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}{level}-", dir=parent))
        hidden.chmod(0o755)
        cls(hidden).record(owner=sweep.identity(os.getpid()))
        # Nobody may see a run without an owner: it would look abandoned.
        return cls(hidden.rename(parent / hidden.name.removeprefix(".")))

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def record(self, **entry: object) -> None:
        """Note something to be removed with this run: a process, a link, an nftables table, …"""
        with (self.directory / sweep.RECORD).open("a") as record:
            record.write(json.dumps(entry) + "\n")

    def subdirectory(self, name: str) -> Path:
        path = self.directory / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def spawn(
        self,
        name: str,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        """Start a process that ends with this run."""
        return self.adopt(processes.start(name, command, self.log_of(name), environment))

    def log_of(self, name: str) -> Path:
        """Return the file that a process of this run logs to."""
        return self.subdirectory("logs") / f"{name}.log"

    def adopt(self, child: Child) -> Child:
        """Let a process end with this run."""
        self.children.append(child)
        self.record(process=sweep.identity(child.pid))
        return child

    def stop(self) -> None:
        """End the processes, last one first."""
        while self.children:
            self.children.pop().stop()

    def close(self) -> None:
        """End the processes, and remove everything recorded."""
        self.stop()
        sweep.sweep(self.directory)


def abandoned() -> list[Path]:
    """Run directories whose owner is dead."""
    found = sorted(parent_directory().glob(f"{_PREFIX}*/{sweep.RECORD}"))
    return [record.parent for record in found if not sweep.owner_alive(record.parent)]


def living(level: str) -> list[Path]:
    """Run directories of LEVEL whose owner is alive."""
    found = sorted(parent_directory().glob(f"{_PREFIX}{level}-*/{sweep.RECORD}"))
    return [record.parent for record in found if sweep.owner_alive(record.parent)]
