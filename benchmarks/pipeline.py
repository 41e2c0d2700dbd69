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
    """What the rounds of one case gave."""

    case: Case
    ours: list[Measured]
    peers: list[Measured]

    def line(self) -> str:
        """Return the row of the table."""
        ours, peers = _medians(self.ours), _medians(self.peers)
        wall = ours.seconds / peers.seconds
        memory = ours.peak_bytes / peers.peak_bytes
        return (
            f"| {self.case.title} | {_show(peers)} | {_show(ours)} | {wall:.2f}× | {memory:.2f}× |"
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
            results: dict[str, list[Measured]] = {name: [] for name in commands}
            for _ in track(range(rounds), description=case.title, console=CONSOLE):
                for name, command in commands.items():
                    measured = measure.run(command, environment, Path(scratch))
                    results[name].append(measured)
                    CONSOLE.print(f"{name}: {_show(measured)}")
            yield Row(case, results["modelexport run"], results["hand-written"])


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


def _medians(runs: list[Measured]) -> Measured:
    return Measured(
        statistics.median(run.seconds for run in runs),
        int(statistics.median(run.peak_bytes for run in runs)),
    )


def _show(measured: Measured) -> str:
    return f"{measured.seconds:.1f} s, {measured.peak_bytes / 1e9:.2f} GB"


if __name__ == "__main__":
    sys.exit(main())
