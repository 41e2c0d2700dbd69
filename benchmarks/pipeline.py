"""`modelexport run` against the script that people write by hand, on the same S3 server.

    make bench                              all cases, three rounds, and docs/performance.md
    python -m benchmarks.pipeline --only cnn --rounds 1

Whole processes, interleaved, so that whatever else the machine does hits both; the table shows
medians and their ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

from bed import s3
from bed.runs import Run
from benchmarks import measure
from benchmarks.cases import CASES, PYTHONPATH, Case, zip_code
from benchmarks.measure import Measured
from benchmarks.page import put_table

CONSOLE = Console(stderr=True)


@dataclass(frozen=True)
class Row:
    """The median of the times of one case, and its peaks of memory."""

    case: Case
    ours: Measured
    peer: Measured

    def line(self) -> str:
        """Return the row of the table."""
        ours, peer = self.ours, self.peer
        wall = ours.seconds / peer.seconds
        memory = ours.peak_bytes / peer.peak_bytes
        return (
            f"| {self.case.title} | {_show(peer)} | {_show(ours)} | {wall:.2f}× | {memory:.2f}× |"
        )


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=[case.name for case in CASES], action="append")
    parser.add_argument("--write", action="store_true", help="put the table into docs/")
    arguments = parser.parse_args()
    cases = [case for case in CASES if not arguments.only or case.name in arguments.only]
    with Run.open("s3") as run:
        rows = list(_measure(s3.start(run), cases, arguments.rounds))
    table = "\n".join(
        [
            "| network | hand-written script | `modelexport run` | wall | memory |",
            "|---|---|---|---|---|",
            *(row.line() for row in rows),
        ]
    )
    sys.stdout.write(table + "\n")
    if arguments.write:
        put_table("pipeline", table)
    return 0


def _measure(server: s3.S3Server, cases: list[Case], rounds: int) -> Iterator[Row]:
    environment = {**os.environ, **server.environment(), "PYTHONPATH": PYTHONPATH}
    with tempfile.TemporaryDirectory(prefix="modelexport-bench-", dir="/var/tmp") as scratch:
        for case in cases:
            manifest = prepare(server, case, Path(scratch))
            commands = {
                "modelexport run": ours(manifest),
                "hand-written": [sys.executable, "-m", "benchmarks.handwritten", str(manifest)],
            }
            peaks: dict[str, int] = {}
            seconds: dict[str, list[float]] = {name: [] for name in commands}
            for number in track(range(rounds + 1), description=case.title, console=CONSOLE):
                for name, command in commands.items():
                    watch = number == 0  # which takes time, as do the files that no cache has yet
                    measured = measure.run(command, environment, Path(scratch), watch=watch)
                    if watch:
                        peaks[name] = measured.peak_bytes
                    else:
                        seconds[name].append(measured.seconds)
                    CONSOLE.print(f"{name}: {_show(measured)}")
            ours_now, peer = (
                Measured(statistics.median(seconds[name]), peaks[name]) for name in commands
            )
            yield Row(case, ours_now, peer)


def ours(manifest: Path) -> list[str]:
    """Return the command that runs a manifest."""
    return [str(Path(sys.executable).parent / "modelexport"), "run", str(manifest)]


def prepare(server: s3.S3Server, case: Case, scratch: Path) -> Path:
    """Upload checkpoint and code; return the manifest's path."""
    bucket = server.bucket("bench")
    client = server.client()
    case.write_checkpoint(scratch / "checkpoint.pt")
    client.upload_file(str(scratch / "checkpoint.pt"), bucket, f"{case.name}/checkpoint.pt")
    (scratch / "checkpoint.pt").unlink()
    zip_code(scratch / "code.zip")
    client.upload_file(str(scratch / "code.zip"), bucket, "code.zip")
    manifest = scratch / f"{case.name}.yaml"
    manifest.write_text(case.manifest(bucket, server.endpoint, server.region))
    return manifest


def _show(measured: Measured) -> str:
    memory = f", {measured.peak_bytes / 1e9:.2f} GB" if measured.peak_bytes else ""
    return f"{measured.seconds:.1f} s{memory}"


if __name__ == "__main__":
    sys.exit(main())
