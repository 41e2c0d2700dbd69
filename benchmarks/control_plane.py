"""Many exports at once beside a client that creates bare Jobs, on one control plane.

    make bench-operator                       300 exports, three rounds, and docs/performance.md
    python -m benchmarks.control_plane --count 60 --rounds 1
    python -m benchmarks.control_plane --count 1000 --jobset CHECKOUT   beside JobSet's controller

etcd, API server and controller manager are real; a thread in place of the kubelets runs all pods
for a second. The bare Jobs are those that the operator would create, without it: the floor. The
same client creates both, and both count until the last one is complete. Each round has both, by
turns, with a new operator, whose settings are the default ones. `--jobset` also has a row for
JobSets of these Jobs, made by its controller (`jobset.py` says where a checkout comes from).
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bed import beds
from bed.control_plane import ControlPlane
from bed.processes import Child
from benchmarks import jobset
from benchmarks.page import put_table
from cluster.operator.forked import Forker
from cluster.operator.kubelet import advancing
from cluster.operator.replica import LEASE, Operators, peak_memory, prepare
from cluster.operator.world import SUCCESS, World
from modelexport_api import GROUP, PLURAL, VERSION
from modelexport_api.resource import parse
from modelexport_api.status import Phase
from modelexport_operator.job import build
from modelexport_operator.settings import ApiLimits, LeaseSettings, Settings

CLIENTS, RUN_SECONDS, PATIENCE = 8, 1.0, 900
FAST = ApiLimits(qps=200, burst=400)
KINDS = {"default": ApiLimits(), "fast": FAST}
TITLES = {
    "floor": "bare Jobs",
    "default": "exports, settings by default",
    "fast": f"exports, `api.qps` {FAST.qps:.0f}",
    "jobset": "JobSets of one Job, by JobSet's controller (Go)",
}
_TICKS = os.sysconf("SC_CLK_TCK")
_COUNTED = {(GROUP, PLURAL), (jobset.GROUP, jobset.PLURAL), ("events.k8s.io", "events")}
_COUNTED_WITHOUT_STATUS = {("batch", "jobs", ""), ("", "services", "")}
_WRITES = ("POST", "PUT", "PATCH", "DELETE", "APPLY")
Object = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """What was measured of some objects, from the first creation to the last end."""

    seconds: float
    jobs: float
    """Seconds until the last Job is created."""
    writes: float
    """Of each object."""
    cpu: float = 0
    """Seconds of the operator, of each object."""
    memory: int = 0
    """Peak of the operator's resident memory in bytes."""


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="objects at once")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobset", type=Path, help="a checkout of JobSet with its built manager")
    parser.add_argument(
        "--only", choices=KINDS, action="append", help="of the rows, beside bare Jobs"
    )
    parser.add_argument("--write", action="store_true", help="put the table into docs/")
    chosen = parser.parse_args()
    wanted = [kind for kind in KINDS if kind in (chosen.only or KINDS)]
    kinds = ["floor", *wanted, *(["jobset"] if chosen.jobset else [])]
    runs: dict[str, list[Run]] = {kind: [] for kind in kinds}
    with beds.control_plane_running() as plane:
        kubeconfig = prepare(plane)
        with closing(Forker.start(plane.run.log_of("bench-forker"))) as forker:
            for number in range(chosen.rounds):
                operators = Operators(plane, f"bench-{number}", kubeconfig, forker)
                for kind, found in _round(operators, kinds, chosen.count, chosen.jobset):
                    runs[kind].append(found)
                    print(f"round {number}, {kind}: {found}", flush=True)
    text = table(chosen.count, runs)
    print(text)
    if chosen.write:
        put_table("control-plane", text)


def _round(
    operators: Operators, kinds: list[str], count: int, checkout: Path | None
) -> Iterator[tuple[str, Run]]:
    plane, name = operators.plane, operators.namespace
    for kind in kinds:
        operators.namespace = f"{name}-{kind}"
        plane.create_namespace(operators.namespace)
        world = World(plane, operators.namespace)
        if kind == "floor":
            yield kind, _jobs(world, count)
        elif kind == "jobset" and checkout:
            yield kind, _jobsets(world, count, checkout)
        else:
            yield kind, _exports(operators, KINDS[kind], count)
        # Objects of an earlier run must not slow down a later one.
        _delete_all(world)


def _exports(operators: Operators, limits: ApiLimits, count: int) -> Run:
    """Create exports for an operator that waits for them."""
    world = World(operators.plane, operators.namespace)
    lease = {**LeaseSettings().to_wire(), "name": LEASE}
    replica = operators.start(api=limits.to_wire(), lease=lease, podStartGraceSeconds=60)
    try:
        _until(replica.leads, "the operator leads")
        time.sleep(2)
        return _measured(
            world,
            count,
            lambda n: world.create(f"e-{n:04}"),
            lambda: world.phases()[Phase.SUCCEEDED],
            replica.child,
        )
    finally:
        replica.terminate()


def _jobs(world: World, count: int) -> Run:
    """Create the same Jobs without an operator."""
    manifest = _manifest(world)

    def create(number: int) -> None:
        body = copy.deepcopy(manifest)
        body["metadata"]["name"] = f"j-{number:04}"
        world.batch.create_namespaced_job(world.namespace, body, _preload_content=False)

    def complete() -> int:
        return sum(int(job["status"].get("succeeded", 0)) for job in world.all_jobs())

    return _measured(world, count, create, complete)


def _jobsets(world: World, count: int, checkout: Path) -> Run:
    """Create JobSets of one such Job each, for JobSet's own controller."""
    manifest, controller = _manifest(world), jobset.start(world.plane, checkout)
    try:
        time.sleep(2)
        return _measured(
            world,
            count,
            lambda n: jobset.create(world, f"s-{n:04}", manifest),
            lambda: jobset.completed(world),
            controller,
        )
    finally:
        jobset.remove(world)
        controller.stop()


def _measured(
    world: World,
    count: int,
    create: Callable[[int], object],
    complete: Callable[[], int],
    operator: Child | None = None,
) -> Run:
    """Create objects, run their pods, and wait until all are complete."""
    written, cpu = count_writes(world.plane), cpu_of(operator) if operator else 0.0
    started, began = datetime.now(UTC), time.monotonic()
    with kubelet(world):
        in_parallel(create, count)
        _until(lambda: complete() == count, "all are complete")
    seconds = time.monotonic() - began
    writes = (count_writes(world.plane) - written) / count
    last = max(job["metadata"]["creationTimestamp"] for job in world.all_jobs())
    jobs = (datetime.fromisoformat(last) - started).total_seconds()
    if operator is None:
        return Run(seconds, jobs, writes)
    spent = (cpu_of(operator) - cpu) / count
    return Run(seconds, jobs, writes - 1, spent, peak_memory(operator))  # the client created it


def _manifest(world: World) -> Object:
    made = world.create("template")
    manifest = build(parse(made), Settings(exporter_image="modelexport-exporter:test"))
    world.delete("template")
    del manifest["metadata"]["ownerReferences"]
    return manifest


def _delete_all(world: World) -> None:
    """Delete all exports, Jobs and pods by collections; one by one a thousand take minutes."""
    world.custom.delete_collection_namespaced_custom_object(GROUP, VERSION, world.namespace, PLURAL)
    world.batch.delete_collection_namespaced_job(world.namespace, propagation_policy="Background")
    world.core.delete_collection_namespaced_pod(world.namespace, grace_period_seconds=0)
    _until(lambda: not (world.all_jobs() or world.all_pods()), "nothing is left")


def in_parallel(act: Callable[[int], object], count: int) -> None:
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(act, range(count)))


@contextmanager
def kubelet(world: World) -> Iterator[None]:
    """Run each pod for a second; then it succeeds."""
    ends: dict[str, float] = {}

    def advance(pod: Object) -> None:
        name, phase = pod["metadata"]["name"], pod.get("status", {}).get("phase")
        if phase == "Pending" and name not in ends:
            world.run_pod(name)
            ends[name] = time.monotonic() + RUN_SECONDS
        elif phase == "Running" and time.monotonic() >= ends.get(name, 0):
            world.end_pod(name, 0, SUCCESS)

    with advancing(world, advance, CLIENTS):
        yield


def _until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not in {PATIENCE} s: {what}")
        time.sleep(0.5)


def cpu_of(process: Child) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def count_writes(plane: ControlPlane) -> int:
    """Return the writes of Jobs, ModelExports, their status and Events, by the API server's count.

    The controllers of Kubernetes write other resources: the Job's status, pods, Events of core/v1.
    """
    total = 0
    for line in plane.kubectl("get", "--raw", "/metrics").splitlines():
        if not line.startswith("apiserver_request_total{"):
            continue
        labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
        of = (labels["group"], labels["resource"], labels["subresource"])
        if labels["verb"] in _WRITES and (of[:2] in _COUNTED or of in _COUNTED_WITHOUT_STATUS):
            total += int(float(line.rpartition(" ")[2]))
    return total


def table(count: int, runs: dict[str, list[Run]]) -> str:
    """Return the medians of the rounds; the ratios are those of each round."""
    lines = [
        f"| {count} at once | all complete | last Job created | writes each | CPU each "
        "| peak memory |",
        "|---|---|---|---|---|---|",
    ]
    for kind, mine in runs.items():
        pairs = list(zip(mine, runs["floor"], strict=True))
        ratio = statistics.median(run.seconds / floor.seconds for run, floor in pairs)
        jobs = statistics.median(run.jobs / floor.seconds for run, floor in pairs)
        writes = statistics.median(run.writes for run in mine)
        cpu = statistics.median(run.cpu for run in mine) * 1000
        memory = max(run.memory for run in mine) / 2**20
        own = f"{cpu:.0f} ms | {memory:.0f} MiB" if kind != "floor" else "|"
        lines.append(f"| {TITLES[kind]} | {ratio:.1f}× | {jobs:.1f}× | {writes:.1f} | {own} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
