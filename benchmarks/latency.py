"""The latency of published files against those of bare `torch.onnx.export`, by turns.

    make bench-latency                        all networks, and docs/performance.md
    python -m benchmarks.latency --only bert

Each network is exported by both in a process of its own, with a dynamic batch; the files stay in
build/latency. Then onnxruntime runs both in turns on the same inputs, with its default options.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from benchmarks.page import put_table

CONSOLE = Console(stderr=True)
BUILD = Path("build/latency")
TURNS, SECONDS_PER_TURN = 15, 0.15
OURS, BARE = "ours", "bare"


@dataclass(frozen=True)
class Row:
    """What was measured of one network, in milliseconds."""

    name: str
    ours: float
    bare: float
    ratio: float
    """The median of the turns' ratios: what else the machine does hits both."""

    def line(self) -> str:
        """Return the row of the table."""
        return f"| {self.name} | {self.bare:.2f} ms | {self.ours:.2f} ms | {self.ratio:.2f}× |"


def main() -> int:
    """Export, measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append")
    parser.add_argument("--write", action="store_true", help="put the table into docs/")
    parser.add_argument("--export", help="export one network, and end")
    arguments = parser.parse_args()
    if arguments.export:
        return _export(arguments.export)
    from benchmarks.latency_models import NETWORKS

    names = [own.name for own in NETWORKS if not arguments.only or own.name in arguments.only]
    exported = [name for name in track(names, "exporting", console=CONSOLE) if _exported(name)]
    rows = [_measured(name) for name in track(exported, "measuring", console=CONSOLE)]
    table = _table(rows)
    print(table)
    if arguments.write:
        put_table("latency", table)
    return 0 if len(exported) == len(names) else 1


def _table(rows: list[Row]) -> str:
    ratios = [row.ratio for row in rows]
    lines = [
        "| network, batch 1 | `torch.onnx.export` | published file | latency |",
        "|---|---|---|---|",
        *(row.line() for row in rows),
    ]
    if ratios:
        middle, worst = statistics.median(ratios), max(ratios)
        lines.append(f"| median; largest of {len(ratios)} | | | {middle:.2f}×; {worst:.2f}× |")
    return "\n".join(lines)


def _exported(name: str) -> bool:
    """Export a network by both, unless its files are there; return whether they are."""
    if _file(name, OURS) and _file(name, BARE):
        return True
    command = [sys.executable, "-m", "benchmarks.latency", "--export", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        CONSOLE.print(f"{name}: {done.stderr[-2000:]}", markup=False)
    return done.returncode == 0


def _file(name: str, by: str) -> Path | None:
    return next((BUILD / name / by).glob("*.onnx"), None)


def _export(name: str) -> int:
    import torch

    import modelexport
    from benchmarks.latency_models import NETWORKS

    network = next(own for own in NETWORKS if own.name == name)
    torch.manual_seed(0)
    module, example = network.build().eval(), network.example()
    bare = BUILD / name / BARE / "model.onnx"
    bare.parent.mkdir(parents=True, exist_ok=True)
    try:
        modelexport.export(
            module,
            example,
            inputs=[network.declared],
            dims={"batch": (1, 8)},
            out=BUILD / name / OURS,
            progress=False,
            verification={"benchmark": False},
        )
        batch = torch.export.Dim("batch", min=1, max=8)
        torch.onnx.export(
            module, (example,), bare, dynamo=True, dynamic_shapes=({0: batch},), verbose=False
        )
    except Exception:  # noqa: BLE001 - it is printed
        traceback.print_exc(limit=3)
        return 1
    return 0


def _measured(name: str) -> Row:
    sessions = {by: _session(name, by) for by in (OURS, BARE)}
    feeds = {by: _feed(session) for by, session in sessions.items()}
    seconds: dict[str, list[float]] = {OURS: [], BARE: []}
    for turn in range(TURNS + 1):
        for by in (OURS, BARE) if turn % 2 else (BARE, OURS):
            found = _fastest(sessions[by], feeds[by])
            if turn:  # the first one warms up
                seconds[by].append(found)
    ratios = [ours / bare for ours, bare in zip(seconds[OURS], seconds[BARE], strict=True)]
    ours, bare = (1000 * statistics.median(seconds[by]) for by in (OURS, BARE))
    return Row(name, ours, bare, statistics.median(ratios))


def _session(name: str, by: str) -> onnxruntime.InferenceSession:
    path = _file(name, by)
    assert path is not None
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def _feed(session: onnxruntime.InferenceSession) -> dict[str, NDArray[Any]]:
    """Return the same input for both files: a batch of one."""
    (stated,) = session.get_inputs()
    shape = [1, *stated.shape[1:]]
    draw = np.random.default_rng(0)
    if "int" in stated.type:
        return {stated.name: draw.integers(0, 1000, shape)}
    return {stated.name: draw.standard_normal(shape).astype(np.float32)}


def _fastest(session: onnxruntime.InferenceSession, feed: dict[str, NDArray[Any]]) -> float:
    """Return the seconds of the fastest run of a turn."""
    fastest, until = math.inf, time.perf_counter() + SECONDS_PER_TURN
    while time.perf_counter() < until:
        started = time.perf_counter()
        session.run(None, feed)
        fastest = min(fastest, time.perf_counter() - started)
    return fastest


if __name__ == "__main__":
    sys.exit(main())
