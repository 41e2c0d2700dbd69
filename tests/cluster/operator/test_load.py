"""Three hundred ModelExports at once: all end right, each with one Job, in bounded memory."""

from __future__ import annotations

import time

import pytest

from cluster.operator.replica import Operators
from cluster.operator.world import SUCCESS, World, eventually

pytestmark = pytest.mark.control_plane
COUNT = 300
MEMORY_LIMIT = 150 * 2**20


def test_three_hundred_exports_converge(world: World, operators: Operators) -> None:
    for number in range(COUNT):
        world.create(f"digits-{number:03}")
    began = time.monotonic()
    operator = operators.start(api={"qps": 200, "burst": 400}, workers=16)
    eventually(lambda: len(world.all_pods()) == COUNT, "a pod for each", 120)
    created = time.monotonic() - began
    for pod in world.all_pods():
        world.run_pod(pod["metadata"]["name"])
        world.end_pod(pod["metadata"]["name"], 0, SUCCESS)
    ran = time.monotonic()
    eventually(lambda: world.phases() == {"Succeeded": COUNT}, "all have succeeded", 120)
    settled = time.monotonic() - ran
    assert len(world.all_jobs()) == COUNT
    assert f'modelexport_exports{{phase="Succeeded"}} {COUNT}.0' in operator.read("/metrics")
    peak = operator.memory()
    requests = sum(
        float(line.rsplit(" ", 1)[1])
        for line in operator.read("/metrics").splitlines()
        if line.startswith("modelexport_api_requests_total")
    )
    print(
        f"\n{COUNT} exports: Jobs and pods after {created:.1f} s, settled {settled:.1f} s after "
        f"the last pod, {requests / COUNT:.1f} requests each, peak {peak / 2**20:.0f} MiB"
    )
    assert peak < MEMORY_LIMIT
