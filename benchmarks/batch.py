"""One ModelExport of many checkpoints against the hand-written script, on the same S3 server.

    make bench-batch                            all cases, and docs/performance.md
    python -m benchmarks.batch --only digits --checkpoints 20

The peer runs before and after, on half of its checkpoints each, so that whatever else the machine
does hits both; it restarts Python for each checkpoint, as a loop in a shell does, but for the
smallest network, where it does not (its best case). Compared is the time for each checkpoint.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bed import s3
from bed.runs import Run
from benchmarks import measure
from benchmarks.cases import CASES, PYTHONPATH, Case, zip_code
from benchmarks.measure import Measured
from benchmarks.page import put_table

CONSOLE = Console(stderr=True)
HEAD = (
    "| checkpoints | hand-written script | one ModelExport | throughput | memory |\n"
    "|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Batch:
    """Many checkpoints of one network."""

    network: str
    checkpoints: int
    peers: int
    """How many of them the peer does; its time for each does not depend on it."""
    restarts: bool = True
    """Whether the peer restarts Python for each checkpoint."""

    @property
    def case(self) -> Case:
        """Return the network's inputs and manifest."""
        return next(case for case in CASES if case.name == self.network)


BATCHES = (
    Batch("encoder", 20, 6),
    Batch("cnn", 100, 10),
    Batch("digits", 100, 100, restarts=False),
)


@dataclass(frozen=True)
class Row:
    """What one batch gave."""

    batch: Batch
    ours: Measured
    peers: list[Measured]

    def line(self) -> str:
        """Return the row of the table."""
        ours = self.ours.seconds / self.batch.checkpoints
        peer = sum(run.seconds for run in self.peers) / self.batch.peers
        peak = max(run.peak_bytes for run in self.peers)
        how = "" if self.batch.restarts else ", Python not restarted"
        return (
            f"| {self.batch.checkpoints} × {self.batch.case.title} "
            f"| {peer:.2f} s each, {peak / 1e9:.2f} GB{how} "
            f"| {ours:.2f} s each, {self.ours.peak_bytes / 1e9:.2f} GB "
            f"| {peer / ours:.1f}× | {self.ours.peak_bytes / peak:.2f}× |"
        )


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[batch.network for batch in BATCHES], action="append")
    parser.add_argument("--checkpoints", type=int, help="instead of each batch's own number")
    parser.add_argument("--peers", type=int, help="how many the peer does")
    parser.add_argument("--write", action="store_true", help="put the table into docs/")
    arguments = parser.parse_args()
    batches = [_sized(batch, arguments) for batch in BATCHES if _asked(batch, arguments)]
    with Run.open("s3") as run:
        rows = list(_measure(s3.start(run), batches))
    table = "\n".join([HEAD, *(row.line() for row in rows)])
    sys.stdout.write(table + "\n")
    if arguments.write:
        put_table("batch", table)
    return 0


def _asked(batch: Batch, arguments: argparse.Namespace) -> bool:
    return not arguments.only or batch.network in arguments.only


def _sized(batch: Batch, arguments: argparse.Namespace) -> Batch:
    checkpoints = arguments.checkpoints or batch.checkpoints
    peers = min(arguments.peers or batch.peers, checkpoints)
    return Batch(batch.network, checkpoints, peers, restarts=batch.restarts)


def _measure(server: s3.S3Server, batches: list[Batch]) -> Iterator[Row]:
    environment = {**os.environ, **server.environment(), "PYTHONPATH": PYTHONPATH}
    for batch in batches:
        with tempfile.TemporaryDirectory(prefix="modelexport-bench-", dir="/var/tmp") as scratch:
            ours, peers = _prepare(server, batch, Path(scratch))
            half = len(peers) // 2
            runs = _peer(batch, peers[:half], environment, Path(scratch))
            command = [str(Path(sys.executable).parent / "modelexport"), "run", str(ours)]
            measured = measure.run([*command, "--output", "json"], environment, Path(scratch))
            _check(measured.output, batch)
            CONSOLE.print(f"{batch.network}: one ModelExport {measured.seconds:.1f} s")
            runs += _peer(batch, peers[half:], environment, Path(scratch))
            yield Row(batch, measured, runs)


def _peer(
    batch: Batch, manifests: list[Path], environment: dict[str, str], scratch: Path
) -> list[Measured]:
    """Run the hand-written script over manifests."""
    groups = [[manifest] for manifest in manifests] if batch.restarts else [manifests]
    runs = []
    for group in filter(None, groups):
        command = [sys.executable, "-m", "benchmarks.handwritten", *map(str, group)]
        runs.append(measure.run(command, environment, scratch))
        CONSOLE.print(f"{batch.network}: by hand {runs[-1].seconds:.1f} s for {len(group)}")
    return runs


def _check(output: str, batch: Batch) -> None:
    """Hold what was measured against what was asked: nothing failed, nothing was left out."""
    items = json.loads(output)["items"]
    if items["succeeded"] != batch.checkpoints:
        msg = f"not all of {batch.checkpoints} checkpoints were published: {items}"
        raise RuntimeError(msg)


def _prepare(server: s3.S3Server, batch: Batch, scratch: Path) -> tuple[Path, list[Path]]:
    """Upload checkpoints and code; return our manifest, and the peer's for each checkpoint."""
    bucket = server.bucket("bench")
    client = server.client()
    zip_code(scratch / "code.zip")
    client.upload_file(str(scratch / "code.zip"), bucket, "code.zip")
    for number in range(batch.checkpoints):
        batch.case.write_checkpoint(scratch / "checkpoint.pt", seed=number)
        name = f"{batch.network}/run-{number:03}.pt"
        client.upload_file(str(scratch / "checkpoint.pt"), bucket, name)
    (scratch / "checkpoint.pt").unlink()

    def manifest(name: str, source: str, to: str) -> Path:
        path = scratch / f"{name}.yaml"
        path.write_text(
            batch.case.manifest(bucket, server.endpoint, server.region, source=source, to=to)
        )
        return path

    peers = [
        manifest(f"peer-{number}", f"run-{number:03}.pt", f"by-hand-{number:03}/")
        for number in range(batch.peers)
    ]
    return manifest("batch", "run-*.pt", "{stem}/"), peers


if __name__ == "__main__":
    sys.exit(main())
