"""Wall time and peak anonymous memory of a whole process and everything that it starts.

Anonymous memory is what a memory limit cannot reclaim. It is summed over the process tree as the
kernel's proportional share (Pss_Anon of smaps_rollup), so that pages shared by forked processes
count once; mapped files (a checkpoint, external data) are page cache and do not count.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

INTERVAL = 0.25
"""The kernel walks all pages of a process for a reading: 10 ms, taken from what is measured. Five
processes at once lost an eighth of their time, so that times are those of runs without a watch."""


@dataclass(frozen=True)
class Measured:
    """One run."""

    seconds: float
    peak_bytes: int
    """0 if it was not watched."""
    output: str = ""
    """What it wrote to standard output."""


def run(
    command: Sequence[str], environment: Mapping[str, str], cwd: Path, *, watch: bool = True
) -> Measured:
    """Run a command to its end and measure it. Raises RuntimeError with its output if it fails.

    `watch`: its memory too.
    """
    begun = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=dict(environment),
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with _watched(process.pid) if watch else nullcontext([0]) as peak:
        output, errors = process.communicate()
        seconds = time.perf_counter() - begun
    if process.returncode:
        msg = f"{' '.join(command)} ended with {process.returncode}:\n{(output + errors)[-4000:]}"
        raise RuntimeError(msg)
    return Measured(seconds, peak[0], output)


@contextmanager
def _watched(root: int) -> Iterator[list[int]]:
    """Yield a list whose one element is the peak of a process and all that it starts, in bytes."""
    peak, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(INTERVAL):
            peak[0] = max(peak[0], sum(anonymous_bytes(pid) for pid in tree(root)))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def tree(root: int) -> list[int]:
    found, pending = [], [root]
    while pending:
        pid = pending.pop()
        found.append(pid)
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            tasks = Path(f"/proc/{pid}/task").iterdir()
            for task in tasks:
                children += (task / "children").read_text().split()
        except OSError:
            continue
        pending += [int(child) for child in set(children)]
    return found


def anonymous_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss_Anon:"))
