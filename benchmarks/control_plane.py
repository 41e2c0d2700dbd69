"""Many exports at once beside a client that creates bare Jobs, on one control plane.

    make bench-operator                       300 exports, three rounds, and docs/performance.md
    python -m benchmarks.control_plane --count 60 --rounds 1

etcd, API server and controller manager are real; a thread in place of the kubelets runs all pods
for a second. The bare Jobs are those that the operator would create, without it: the floor. The
same client creates both, and both count until the last one is complete. Each round has both, by
turns, with a new operator, whose settings are the default ones.
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bed import beds
from bed.control_plane import ControlPlane
from benchmarks.page import put_table
from cluster.operator.forked import Forker
from cluster.operator.replica import LEASE, Operators, Replica, prepare
from cluster.operator.world import SUCCESS, World
from modelexport_api.resource import parse
from modelexport_operator.job import build
from modelexport_operator.settings import ApiLimits, LeaseSettings, Settings

CLIENTS, RUN_SECONDS, PATIENCE = 8, 1.0, 900
FAST = ApiLimits(qps=200, burst=400)
_TICKS = os.sysconf("SC_CLK_TCK")
_WRITES = ("POST", "PUT", "PATCH", "DELETE", "APPLY")
Object = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """What was measured of some objects, from the first creation to the last end."""

    seconds: float
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
    parser.add_argument("--write", action="store_true", help="put the table into docs/")
    chosen = parser.parse_args()
    runs: dict[str, list[Run]] = {"floor": [], "default": [], "fast": []}
    with beds.control_plane_running() as plane:
        kubeconfig = prepare(plane)
        with closing(Forker.start(plane.run.log_of("bench-forker"))) as forker:
            for number in range(chosen.rounds):
                operators = Operators(plane, f"bench-{number}", kubeconfig, forker)
                for kind, found in _round(operators, chosen.count):
                    runs[kind].append(found)
                    print(f"round {number}, {kind}: {found}", flush=True)
    text = table(chosen.count, runs)
    print(text)
    if chosen.write:
        put_table("control-plane", text)


def _round(operators: Operators, count: int) -> Iterator[tuple[str, Run]]:
    plane, name = operators.plane, operators.namespace
    for kind, limits in {"floor": None, "default": ApiLimits(), "fast": FAST}.items():
        operators.namespace = f"{name}-{kind}"
        plane.create_namespace(operators.namespace)
        world = World(plane, operators.namespace)
        yield kind, _jobs(world, count) if limits is None else _exports(operators, limits, count)
        # Objects of an earlier run must not slow down a later one.
        plane.kubectl("delete", "modelexports,jobs,pods", "--all", "-n", operators.namespace)


def _exports(operators: Operators, limits: ApiLimits, count: int) -> Run:
    """Create exports for an operator that waits for them."""
    world = World(operators.plane, operators.namespace)
    lease = {**LeaseSettings().to_wire(), "name": LEASE}
    replica = operators.start(api=limits.to_wire(), lease=lease, podStartGraceSeconds=60)
    try:
        _until(replica.leads, "the operator leads")
        time.sleep(2)
        cpu, written = operator_cpu(replica), count_writes(operators.plane)
        began = time.monotonic()
        with _kubelet(world):
            in_parallel(lambda n: world.create(f"e-{n:04}"), count)
            _until(lambda: world.phases() == {"Succeeded": count}, "all exports succeed")
        seconds = time.monotonic() - began
        writes = (count_writes(operators.plane) - written) / count - 1  # the client created it
        return Run(seconds, writes, (operator_cpu(replica) - cpu) / count, replica.memory())
    finally:
        replica.terminate()


def _jobs(world: World, count: int) -> Run:
    """Create the same Jobs without an operator."""
    manifest = _manifest(world)
    written, began = count_writes(world.plane), time.monotonic()

    def create(number: int) -> None:
        body = copy.deepcopy(manifest)
        body["metadata"]["name"] = f"j-{number:04}"
        world.batch.create_namespaced_job(world.namespace, body, _preload_content=False)

    def complete() -> bool:
        found = sum(int(job["status"].get("succeeded", 0)) for job in world.all_jobs())
        return found == count

    with _kubelet(world):
        in_parallel(create, count)
        _until(complete, "all Jobs are complete")
    return Run(time.monotonic() - began, (count_writes(world.plane) - written) / count)


def _manifest(world: World) -> Object:
    made = world.create("template")
    manifest = build(parse(made), Settings(exporter_image="modelexport-exporter:test"))
    world.delete("template")
    del manifest["metadata"]["ownerReferences"]
    return manifest


def in_parallel(act: Callable[[int], object], count: int) -> None:
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(act, range(count)))


@contextmanager
def _kubelet(world: World) -> Iterator[None]:
    """Run each pod for a second; then it succeeds."""
    stop = threading.Event()
    ends: dict[str, float] = {}

    def advance(pod: Object) -> None:
        name, phase = pod["metadata"]["name"], pod.get("status", {}).get("phase")
        if phase == "Pending" and name not in ends:
            world.run_pod(name)
            ends[name] = time.monotonic() + RUN_SECONDS
        elif phase == "Running" and time.monotonic() >= ends.get(name, 0):
            world.end_pod(name, 0, SUCCESS)

    def serve() -> None:
        with ThreadPoolExecutor(CLIENTS) as pool:
            while not stop.wait(0.2):
                list(pool.map(advance, world.all_pods()))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not in {PATIENCE} s: {what}")
        time.sleep(0.5)


def operator_cpu(replica: Replica) -> float:
    fields = Path(f"/proc/{replica.child.pid}/stat").read_text().rpartition(")")[2].split()
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
        ours = of[:2] in {("modelexport.dev", "modelexports"), ("events.k8s.io", "events")}
        if labels["verb"] in _WRITES and (ours or of == ("batch", "jobs", "")):
            total += int(float(line.rpartition(" ")[2]))
    return total


def table(count: int, runs: dict[str, list[Run]]) -> str:
    """Return the medians of the rounds; the ratio is that of each round."""
    lines = [
        f"| {count} at once | time, of the bare Jobs' | writes each | CPU each | peak memory |",
        "|---|---|---|---|---|",
    ]
    titles = {
        "floor": "bare Jobs",
        "default": "exports, settings by default",
        "fast": f"exports, `api.qps` {FAST.qps:.0f}",
    }
    for kind, title in titles.items():
        mine = runs[kind]
        pairs = zip(mine, runs["floor"], strict=True)
        ratio = statistics.median(run.seconds / floor.seconds for run, floor in pairs)
        writes = statistics.median(run.writes for run in mine)
        cpu = statistics.median(run.cpu for run in mine) * 1000
        memory = max(run.memory for run in mine) / 2**20
        own = f"{cpu:.0f} ms | {memory:.0f} MiB" if kind != "floor" else "|"
        lines.append(f"| {title} | {ratio:.1f}× | {writes:.1f} | {own} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
