"""docs/pictures/dashboard.svg: the dashboard's panels over a few minutes of a real operator.

A real Prometheus scrapes the operator, which runs on a real control plane. Exports come in waves;
a thread in place of the kubelet runs their pods. Some fail, some find no node.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from bed import beds, prometheus
from bed.prometheus import Prometheus
from cluster.operator.forked import Forker
from cluster.operator.kubelet import LogServer, advancing
from cluster.operator.replica import Operators, prepare
from cluster.operator.world import SUCCESS, Object, World, failure
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage
from monitoring import shipped
from monitoring.drawing import Series, svg

SECONDS = 300.0
STEP = 3
"""Seconds between two points of a line."""
_NAMESPACE = "pictured"
_FAILURES = (
    (Reason.VERIFICATION_FAILED, ExitCode.VERIFICATION, Stage.VERIFY),
    (Reason.UNSUPPORTED_OPERATOR, ExitCode.EXPORT, Stage.CONVERT),
    (Reason.STATE_DICT_MISMATCH, ExitCode.MODEL, Stage.LOAD),
)


def write_picture(path: Path) -> None:
    """Run the operator for some minutes, and draw what the dashboard shows."""
    with beds.control_plane_running() as plane:
        kubeconfig = prepare(plane)
        with closing(Forker.start(plane.run.log_of("forker"))) as forker:
            plane.create_namespace(_NAMESPACE)
            operators = Operators(plane, _NAMESPACE, kubeconfig, forker)
            replica = operators.start()
            server = prometheus.start(plane.run, [replica.port], shipped.ALERTS)
            world = World(plane, _NAMESPACE)
            with closing(LogServer(plane)) as logs, _pods_running(world, logs):
                _create(world)
            found = {panel["title"]: _series(server, panel) for panel in shipped.panels()}
            replica.terminate()
    path.write_text(svg(shipped.dashboard()["panels"], found))


def _create(world: World) -> None:
    end = time.monotonic() + SECONDS
    for number in itertools.count():
        if time.monotonic() > end:
            return
        world.create(f"model-{number:04}")
        time.sleep(0.2 if number // 40 % 2 else 2.0)


@contextmanager
def _pods_running(world: World, logs: LogServer) -> Iterator[None]:
    ends: dict[str, float] = {}
    numbers = itertools.count()

    def advance(pod: Object) -> None:
        name, phase = pod["metadata"]["name"], pod.get("status", {}).get("phase")
        if phase == "Pending" and name not in ends:
            number = next(numbers)
            if number % 25 == 24:
                world.unschedulable(name, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")
                ends[name] = float("inf")
                return
            world.run_pod(name)
            ends[name] = time.monotonic() + 4 + number % 7
        elif phase == "Running" and time.monotonic() >= ends[name]:
            _end(world, name, hash(name) % 12)
        elif phase == "Running":
            logs.say(world.namespace, name, _line(ends[name] - time.monotonic()))

    with advancing(world, advance):
        yield


def _end(world: World, pod: str, share: int) -> None:
    if share >= len(_FAILURES):
        world.end_pod(pod, 0, SUCCESS)
        return
    reason, code, stage = _FAILURES[share]
    world.end_pod(pod, code, failure(reason, stage, []))


def _line(left: float) -> str:
    stages = [Stage.PUBLISH, Stage.VERIFY, Stage.VERIFY, Stage.CONVERT, Stage.LOAD, Stage.FETCH]
    stage = stages[min(int(left / 1.5), len(stages) - 1)]
    progress = {"stage": stage, "percent": 50}
    return json.dumps({"time": "t", "level": "info", "message": "m", "progress": progress})


def _series(server: Prometheus, panel: Object) -> list[Series]:
    found = []
    for target in panel.get("targets", ()):
        query = shipped.with_values(target["expr"])
        if target.get("instant"):
            answers = [(one["metric"], [one["value"]]) for one in server.query(query)]
        else:
            past = server.query_range(query, SECONDS, STEP)
            answers = [(one["metric"], one["values"]) for one in past]
        for metric, values in answers:
            points = [(float(at), float(value)) for at, value in values]
            numbers = tuple(point for point in points if point[1] == point[1])  # no NaN
            if numbers:
                found.append(Series(_label(target.get("legendFormat", ""), metric), numbers))
    return found


def _label(template: str, metric: Mapping[str, str]) -> str:
    text = re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda name: metric.get(name[1], ""), template)
    return " ".join(text.split())
