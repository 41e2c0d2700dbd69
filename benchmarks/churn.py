"""The operator's memory over half an hour in which exports come, run, end and are deleted.

    python -m benchmarks.churn --minutes 30 --write

One or two exports a second are created, their pods run for a second, and the oldest are deleted, so
that the cluster always has about as many. A leak would show as memory, open files or threads that
grow from one quarter to the next.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bed import beds
from bed.processes import Child
from benchmarks.control_plane import cpu_of, kubelet
from benchmarks.page import put_table
from cluster.operator.forked import Forker
from cluster.operator.replica import LEASE, Operators, prepare
from cluster.operator.world import World, eventually
from modelexport_operator.settings import LeaseSettings

KEPT = 200
"""Exports in the cluster; the oldest above them is deleted."""
PARTS = 6


@dataclass(frozen=True)
class State:
    """What the operator holds at the end of a part."""

    minutes: float
    made: int
    memory: int
    """Resident bytes, now."""
    files: int
    threads: int
    cpu: float
    """Seconds, since the start."""


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=1.5, help="exports a second")
    parser.add_argument("--write", action="store_true", help="put the table into docs/")
    chosen = parser.parse_args()
    with beds.control_plane_running() as plane:
        kubeconfig = prepare(plane)
        with closing(Forker.start(plane.run.log_of("bench-forker"))) as forker:
            plane.create_namespace("churn")
            operators = Operators(plane, "churn", kubeconfig, forker)
            states = list(_states(operators, chosen.minutes * 60, chosen.rate))
    text = table(states)
    print(text)
    if chosen.write:
        put_table("churn", text)


def _states(operators: Operators, seconds: float, rate: float) -> Iterator[State]:
    world = World(operators.plane, operators.namespace)
    replica = operators.start(lease={**LeaseSettings().to_wire(), "name": LEASE})
    try:
        eventually(replica.leads, "the operator leads")
        began = time.monotonic()
        with kubelet(world):
            made = 0
            for part in range(1, PARTS + 1):
                made = _churn(world, made, began, began + seconds * part / PARTS, rate)
                state = _state(replica.child, (time.monotonic() - began) / 60, made)
                print(state, flush=True)
                yield state
    finally:
        replica.terminate()


def _churn(world: World, made: int, began: float, end: float, rate: float) -> int:
    """Create exports until END, at their times; return how many there were so far."""
    for number in itertools.count(made):
        due = began + number / rate
        if due > end:
            return number
        time.sleep(max(0.0, due - time.monotonic()))
        world.create(f"e-{number:06}")
        if number >= KEPT:
            world.delete(f"e-{number - KEPT:06}")
    raise AssertionError


def _state(process: Child, minutes: float, made: int) -> State:
    directory = Path(f"/proc/{process.pid}")
    lines = (directory / "status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return State(
        minutes,
        made,
        int(fields["VmRSS"].split()[0]) * 1024,
        len(list((directory / "fd").iterdir())),
        int(fields["Threads"]),
        cpu_of(process),
    )


def table(states: list[State]) -> str:
    """Return the states as a table."""
    return "\n".join(
        [
            "| after | exports made | memory | open files | threads | CPU |",
            "|---|---|---|---|---|---|",
            *(
                f"| {one.minutes:.0f} min | {one.made:,} | {one.memory / 2**20:.0f} MiB "
                f"| {one.files} | {one.threads} | {one.cpu:.0f} s |"
                for one in states
            ),
        ]
    )


if __name__ == "__main__":
    main()
