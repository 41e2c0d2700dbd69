"""Many ModelExports at once: all succeed, each with one Job, in limited memory."""

from __future__ import annotations

import time

import pytest

from cluster.operator.kueue import QUEUE_LABEL, install_webhook
from cluster.operator.replica import LEASE, Operators, Replica
from cluster.operator.world import SUCCESS, World, eventually

pytestmark = pytest.mark.control_plane
COUNTS = [60, pytest.param(300, marks=pytest.mark.nightly)]
MEMORY_LIMIT = 150 * 2**20
LIMITS = {"qps": 200, "burst": 400}
PATIENT = {"name": LEASE, "durationSeconds": 60, "renewSeconds": 50, "retrySeconds": 2}
"""A leader ends when it cannot renew its Lease, and a busy disk stops etcd for seconds."""


def requests(operator: Replica) -> int:
    """Return the number of requests without those for the Lease."""
    return sum(
        int(float(line.rsplit(" ", 1)[1]))
        for line in operator.read("/metrics").splitlines()
        if line.startswith("modelexport_api_requests_total") and '"leases"' not in line
    )


@pytest.mark.parametrize("count", COUNTS)
def test_exports_converge(world: World, operators: Operators, count: int) -> None:
    for number in range(count):
        world.create(f"digits-{number:03}")
    began = time.monotonic()
    operator = operators.start(api=LIMITS, workers=16, lease=PATIENT)
    eventually(lambda: len(world.all_pods()) == count, "a pod for each", 300)
    created = time.monotonic() - began
    for pod in world.all_pods():
        world.run_pod(pod["metadata"]["name"])
        world.end_pod(pod["metadata"]["name"], 0, SUCCESS)
    ran = time.monotonic()
    try:
        eventually(lambda: world.phases() == {"Succeeded": count}, "all have succeeded", 300)
    except AssertionError:
        print(world.phases(), "the operator is healthy:", operator.healthy())
        raise
    settled = time.monotonic() - ran
    assert len(world.all_jobs()) == count
    assert f'modelexport_exports{{phase="Succeeded"}} {count}.0' in operator.read("/metrics")
    peak = operator.memory()
    print(
        f"\n{count} exports: Jobs and pods after {created:.1f} s, settled {settled:.1f} s after "
        f"the last pod, {requests(operator) / count:.1f} requests each, peak {peak / 2**20:.0f} MiB"
    )
    assert peak < MEMORY_LIMIT


@pytest.mark.parametrize("count", COUNTS)
def test_queued_exports_cause_no_requests(world: World, operators: Operators, count: int) -> None:
    with install_webhook(world.plane, world.namespace):
        for number in range(count):
            world.create(f"digits-{number:03}", {QUEUE_LABEL: "gpu"})
        operator = operators.start(api=LIMITS, workers=16, lease=PATIENT)
        eventually(lambda: world.phases() == {"Queued": count}, "all are queued", 300)
        time.sleep(3)
        before = requests(operator)
        time.sleep(10)
        assert requests(operator) == before
    print(f"\n{count} queued exports: {before / count:.1f} requests each until they wait")
    assert before < 4.5 * count
    assert operator.requests("GET", "pods") == 0


LARGE = 400
SPEC_BYTES = 950_000
CONTAINER_LIMIT = 512 * 2**20
"""The memory limit of the operator's container by the chart's default values."""
RESUMED = 20


@pytest.mark.nightly
def test_large_exports_fit_into_the_operator_s_memory(world: World, operators: Operators) -> None:
    """The first listing, a second one, and the reading of some that are due at once."""
    kwargs = {"text": "x" * SPEC_BYTES}
    for number in range(LARGE):
        model = {"factory": "digits:build", "kwargs": kwargs}
        world.create(f"digits-{number:03}", suspend=True, model=model)
    operator = operators.start(api=LIMITS, lease=PATIENT, resyncSeconds=10)
    eventually(operator.leads, "it leads")
    waiting = f'modelexport_exports{{phase="Suspended"}} {LARGE}.0'
    eventually(lambda: waiting in operator.read("/metrics"), "all are suspended", 600)
    listed = operator.memory()
    time.sleep(15)  # until everything was listed again
    again = operator.memory()
    for number in range(RESUMED):  # too large for a pod's environment: each ends when it is read
        world.patch(f"digits-{number:03}", {"spec": {"suspend": False}})
    ended = f'modelexport_exports{{phase="Failed"}} {RESUMED}.0'
    eventually(lambda: ended in operator.read("/metrics"), "the others have ended", 120)
    peak = operator.memory()
    print(
        f"\n{LARGE} exports of {SPEC_BYTES / 1e6} MB: peak {listed / 2**20:.0f} MiB when all were "
        f"listed, {again / 2**20:.0f} MiB listed again, {peak / 2**20:.0f} MiB at the end"
    )
    assert operator.healthy()
    assert peak < CONTAINER_LIMIT
