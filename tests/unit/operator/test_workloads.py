"""Workloads are read seldom: only of Jobs that wait, by name once it is known, within a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from modelexport_operator.kueue import ObservedWorkload
from modelexport_operator.observe import ObservedJob
from modelexport_operator.settings import KueueSettings
from modelexport_operator.transport import ApiError
from modelexport_operator.workloads import Workloads, next_read
from unit.operator.objects import NOW, at, job

QUEUED = replace(job(), suspended=True, queue="gpu")
LIST = "/apis/kueue.x-k8s.io/{}/namespaces/ml/workloads"
BODY: dict[str, Any] = {"metadata": {"name": "job-digits-9f3e1"}, "spec": {}, "status": {}}
ENABLED = KueueSettings(enabled=True)


class Server:
    """Serves one version of Kueue's API, and one Workload."""

    def __init__(self, version: str | None, error: int = 404, *, deleted: bool = False) -> None:
        self.version, self.error, self.deleted = version, error, deleted
        self.paths: list[str] = []

    async def call(
        self, method: str, path: str, resource: str, *, query: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        self.paths.append(path)
        if self.version is None or f"/{self.version}/" not in path:
            raise ApiError(self.error, "NotFound", "no such path")
        if path.endswith("/workloads"):
            assert query == {"labelSelector": "kueue.x-k8s.io/job-uid=job-1"}
            return {"items": [] if self.deleted else [BODY]}
        return BODY


def read(reader: Workloads, found: ObservedJob = QUEUED, times: int = 1) -> list[Any]:
    async def all_times() -> list[ObservedWorkload | None]:
        return [await reader.read(found, at(60)) for _ in range(times)]

    return asyncio.run(all_times())


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
def test_the_workload_is_found_by_label_and_then_read_by_name(version: str) -> None:
    server = Server(version)
    found = read(Workloads(server, ENABLED), times=2)
    assert [entry.name for entry in found] == ["job-digits-9f3e1"] * 2
    known = LIST.format(version)
    assert server.paths[-2:] == [known, f"{known}/job-digits-9f3e1"]


@pytest.mark.parametrize(
    ("found", "settings"),
    [
        (QUEUED, KueueSettings()),
        (replace(QUEUED, suspended=False), ENABLED),
        (replace(QUEUED, queue=None), ENABLED),
        (replace(QUEUED, complete=True), ENABLED),
        (replace(QUEUED, created=at(59)), ENABLED),
    ],
    ids=["not enabled", "admitted", "suspended by another", "finished", "new"],
)
def test_what_does_not_wait_in_a_queue_is_not_read(
    found: ObservedJob, settings: KueueSettings
) -> None:
    server = Server("v1beta2")
    assert read(Workloads(server, settings), found) == [None]
    assert server.paths == []


def test_reads_have_a_limit_for_all_workloads() -> None:
    settings = KueueSettings(enabled=True, qps=3)
    found = read(Workloads(Server("v1beta2"), settings, clock=lambda: 100.0), times=5)
    assert [entry is not None for entry in found] == [True, True, True, False, False]


@pytest.mark.parametrize(
    "server", [Server(None), Server(None, 403), Server("v1beta2", deleted=True)]
)
def test_without_a_workload_the_export_only_waits(server: Server) -> None:
    assert read(Workloads(server, ENABLED)) == [None]


def test_a_workload_is_read_after_twice_the_time_that_its_job_has_waited() -> None:
    seconds = timedelta(seconds=1)
    waits = [next_read(NOW, at(waited), ENABLED) for waited in (0, 8, 100, 5000)]
    assert waits == [5 * seconds, 8 * seconds, 100 * seconds, 600 * seconds]
    assert next_read(None, NOW, ENABLED) == 5 * seconds
    assert next_read(NOW, NOW, KueueSettings()) is None
