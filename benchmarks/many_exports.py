"""The start of an operator in a cluster with ten thousand exports, ended ones or queued ones.

    make bench-operator                            both tables of docs/performance.md
    python -m benchmarks.many_exports --count 1000

The status of ended ones is what the operator writes at a success, and none has a Job any more. Each
queued one has a suspended Job, which another operator created before. Imports are not in the
figures: the operator is the fork of a process that has imported everything.
"""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bed import beds
from benchmarks.control_plane import FAST, count_writes, cpu_of, in_parallel
from benchmarks.page import put_table
from cluster.operator.forked import Forker
from cluster.operator.kueue import QUEUE_LABEL, install_webhook
from cluster.operator.replica import LEASE, Operators, Replica, prepare
from cluster.operator.world import SUCCESS, World, eventually
from modelexport_api import GROUP, PLURAL, VERSION
from modelexport_api.status import Phase
from modelexport_operator import observe, status
from modelexport_operator.observe import Observation
from modelexport_operator.settings import ApiLimits, LeaseSettings

QUIET_SECONDS = 20.0
"""After the start; what is written then is written for no reason."""
_START_SECONDS = 900


@dataclass(frozen=True)
class Start:
    """What was measured of an operator."""

    seconds: float
    cpu: float
    memory: int
    """Peak of the resident memory in bytes."""
    writes: int


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--write", action="store_true", help="put the table into docs/")
    chosen = parser.parse_args()
    with beds.control_plane_running() as plane:
        kubeconfig = prepare(plane)
        with closing(Forker.start(plane.run.log_of("bench-forker"))) as forker:
            ended = _beside_ended(Operators(plane, "ended", kubeconfig, forker), chosen.count)
            queued = _beside_queued(Operators(plane, "queued", kubeconfig, forker), chosen.count)
    text = table(chosen.count, {"ended": ended, "queued": queued})
    print(text)
    if chosen.write:
        put_table("many-exports", text)


def _beside_ended(operators: Operators, count: int) -> Start:
    operators.plane.create_namespace(operators.namespace)
    world = World(operators.plane, operators.namespace)
    in_parallel(lambda number: _create_ended(world, f"e-{number:05}"), count)
    return _start(operators, count, Phase.SUCCEEDED, ApiLimits())


def _beside_queued(operators: Operators, count: int) -> Start:
    operators.plane.create_namespace(operators.namespace)
    world = World(operators.plane, operators.namespace)
    # A queue that admits nothing: Kueue's webhook suspends each Job, and Kueue does not run.
    with install_webhook(operators.plane, operators.namespace):
        in_parallel(lambda number: world.create(f"q-{number:05}", {QUEUE_LABEL: "gpus"}), count)
        _start(operators, count, Phase.QUEUED, FAST)  # creates the Jobs
        return _start(operators, count, Phase.QUEUED, ApiLimits())


def _start(operators: Operators, count: int, phase: Phase, limits: ApiLimits) -> Start:
    """Start an operator, and wait until it knows all exports and nothing is due."""
    before, began = count_writes(operators.plane), time.monotonic()
    lease = {**LeaseSettings().to_wire(), "name": LEASE}
    replica = operators.start(api=limits.to_wire(), lease=lease)

    def knows_all() -> bool:
        known = _value(replica, f'modelexport_exports{{phase="{phase}"}}')
        return known == count and _value(replica, "modelexport_queue_depth") == 0

    try:
        eventually(replica.leads, "the operator leads", _START_SECONDS)
        eventually(knows_all, f"the operator knows all as {phase}", _START_SECONDS)
        seconds, cpu = time.monotonic() - began, cpu_of(replica.child)
        time.sleep(QUIET_SECONDS)
        written = count_writes(operators.plane) - before
        return Start(seconds, cpu, replica.memory(), written)
    finally:
        replica.terminate()


def _create_ended(world: World, name: str) -> None:
    made = world.create(name)
    seen = Observation(observe.resource(made))
    ended: dict[str, Any] = status.build_succeeded(seen, SUCCESS, datetime.now(UTC)).to_wire()
    world.custom.patch_namespaced_custom_object_status(
        GROUP, VERSION, world.namespace, PLURAL, name, {"status": ended}
    )


def _value(replica: Replica, series: str) -> float:
    lines = replica.read("/metrics").splitlines()
    return next((float(line.split()[-1]) for line in lines if line.startswith(f"{series} ")), 0.0)


def table(count: int, starts: dict[str, Start]) -> str:
    """Return the figures as a table. `starts`: by the kind of exports."""
    return "\n".join(
        [
            "| in the cluster | all known, nothing due | CPU | peak memory | writes |",
            "|---|---|---|---|---|",
            *(
                f"| {count:,} {kind} exports | {one.seconds:.1f} s | {one.cpu:.1f} s "
                f"| {one.memory / 2**20:.0f} MiB | {one.writes} |"
                for kind, one in starts.items()
            ),
        ]
    )


if __name__ == "__main__":
    main()
