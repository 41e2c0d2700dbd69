"""Three hundred ModelExports at once: all succeed, each with one Job, in limited memory."""

from __future__ import annotations

import time

import pytest

from cluster.operator.kueue import QUEUE_LABEL, install_webhook
from cluster.operator.replica import Operators, Replica
from cluster.operator.world import SUCCESS, World, eventually

pytestmark = pytest.mark.control_plane
COUNT = 300
MEMORY_LIMIT = 150 * 2**20
LIMITS = {"qps": 200, "burst": 400}


def requests(operator: Replica) -> int:
    """Return the number of requests without those for the Lease."""
    return sum(
        int(float(line.rsplit(" ", 1)[1]))
        for line in operator.read("/metrics").splitlines()
        if line.startswith("modelexport_api_requests_total") and '"leases"' not in line
    )


def test_three_hundred_exports_converge(world: World, operators: Operators) -> None:
    for number in range(COUNT):
        world.create(f"digits-{number:03}")
    began = time.monotonic()
    operator = operators.start(api=LIMITS, workers=16)
    eventually(lambda: len(world.all_pods()) == COUNT, "a pod for each", 300)
    created = time.monotonic() - began
    for pod in world.all_pods():
        world.run_pod(pod["metadata"]["name"])
        world.end_pod(pod["metadata"]["name"], 0, SUCCESS)
    ran = time.monotonic()
    eventually(lambda: world.phases() == {"Succeeded": COUNT}, "all have succeeded", 300)
    settled = time.monotonic() - ran
    assert len(world.all_jobs()) == COUNT
    assert f'modelexport_exports{{phase="Succeeded"}} {COUNT}.0' in operator.read("/metrics")
    peak = operator.memory()
    print(
        f"\n{COUNT} exports: Jobs and pods after {created:.1f} s, settled {settled:.1f} s after "
        f"the last pod, {requests(operator) / COUNT:.1f} requests each, peak {peak / 2**20:.0f} MiB"
    )
    assert peak < MEMORY_LIMIT


def test_three_hundred_queued_exports_cause_no_requests(world: World, operators: Operators) -> None:
    with install_webhook(world.plane, world.namespace):
        for number in range(COUNT):
            world.create(f"digits-{number:03}", {QUEUE_LABEL: "gpu"})
        operator = operators.start(api=LIMITS, workers=16)
        eventually(lambda: world.phases() == {"Queued": COUNT}, "all are queued", 300)
        time.sleep(3)
        before = requests(operator)
        time.sleep(10)
        assert requests(operator) == before
    print(f"\n{COUNT} queued exports: {before / COUNT:.1f} requests each until they wait")
    assert before < 4.5 * COUNT
    assert operator.requests("GET", "pods") == 0
