"""Attacks of workers that stay for the next checkpoint, while files are verified and published."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tamper
from victim import EXPORT, Attack

Aim = dict[str, str]


def _run_directory() -> Path:
    return Path(os.environ["TMPDIR"]).resolve().parent


def _for_ever(act: Callable[[], object]) -> None:
    def repeat() -> None:
        while True:
            with contextlib.suppress(OSError):
                act()
            time.sleep(0.001)

    threading.Thread(target=repeat, daemon=True).start()


def holds_files(role: str, _aim: Aim) -> None:
    """Rewrite every file that was made, by a descriptor, while it is published."""
    held: dict[Path, tuple[int, bytes]] = {}
    made = time.monotonic()

    def rewrite() -> None:
        for path in (_run_directory() / "out").glob("*/model*"):
            # What is verified is honest: it is changed once this worker answered.
            if path not in held and time.time() - path.stat().st_mtime > 1:
                descriptor = os.open(path, os.O_RDWR)
                held[path] = descriptor, os.pread(descriptor, 8, 0)
        hostile = int((time.monotonic() - made) * 200) % 2
        for descriptor, honest in held.values():
            os.pwrite(descriptor, b"HOSTILE!" if hostile else honest, 0)

    if role == EXPORT:
        _for_ever(rewrite)


def replaces_inputs(role: str, aim: Aim) -> None:
    """Put links in place of what the supervisor fetches for the next checkpoint."""
    there = Path(aim["outside"]) / "there"

    def replace() -> None:
        for directory in _run_directory().glob("checkpoint-*"):
            for name in ("checkpoint", "checkpoint/a.pt", "checkpoint/b.pt", "checkpoint/c.pt"):
                with contextlib.suppress(OSError):
                    (directory / name).symlink_to(there)
                    print("GOT-IN a link", flush=True)
                with contextlib.suppress(OSError):
                    (directory / name).unlink()
                    print("GOT-IN a checkpoint", flush=True)

    if role == EXPORT:
        _for_ever(replace)


def swaps_weights(role: str, _aim: Aim) -> None:
    """Export the weights of the first checkpoint for all of them."""
    if role != EXPORT:
        return
    from dataclasses import replace

    from modelexport_exporter.workers import resident_exporter

    kind: Any = resident_exporter.ResidentExporter
    original, first = kind.rebind, sorted(_run_directory().glob("checkpoint-*/checkpoint/*"))

    def rebind(self: Any, task: Any, report: Any) -> Any:  # noqa: ANN401
        return original(self, replace(task, checkpoint=first[0]), report)

    kind.rebind = rebind


def leaves_a_daemon(role: str, aim: Aim) -> None:
    """Leave a process behind that rewrites all files while the next ones are verified."""
    if role == EXPORT:
        tamper.daemon(role, aim)


ATTACKS: dict[str, Attack] = {
    "resident holds files": holds_files,
    "resident replaces inputs": replaces_inputs,
    "resident swaps weights": swaps_weights,
    "resident leaves a daemon": leaves_a_daemon,
}
