"""A final status is written, whatever the pod's result contains."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import ModelExportStatus
from modelexport_operator import actions, status
from modelexport_operator.decisions import DeleteJob
from modelexport_operator.observe import Observation
from modelexport_operator.transport import ApiError
from unit.operator.objects import SUCCESS, at, ended, job, resource, terminated

BEYOND = 2**70


class Server:
    """Rejects what the CRD's schema rejects: a number beyond 64 bits."""

    def __init__(self, refusal: int) -> None:
        self.refusal = refusal
        self.stored: dict[str, Any] = {}
        self.preconditions: dict[str, Any] = {}

    async def create_job(self, manifest: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    async def get_job(self, namespace: str, name: str) -> dict[str, Any]:
        raise NotImplementedError

    async def patch_job(self, namespace: str, name: str, patch: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    async def delete_job(
        self, namespace: str, name: str, preconditions: dict[str, Any]
    ) -> dict[str, Any]:
        self.preconditions = preconditions
        if self.refusal:
            raise ApiError(self.refusal, "Refused", "m")
        return {}

    async def delete_export(self, namespace: str, name: str, preconditions: dict[str, Any]) -> None:
        raise NotImplementedError

    async def apply_status(
        self, metadata: dict[str, Any], status: dict[str, Any], manager: str, *, force: bool
    ) -> dict[str, Any]:
        if status.get("artifact", {}).get("sizeBytes", 0) >= 2**63:
            raise ApiError(self.refusal, "Invalid", "status.artifact.sizeBytes: Invalid value")
        self.stored = {"metadata": metadata, "status": status}
        return self.stored


def written(server: Server) -> ModelExportStatus:
    assert SUCCESS.artifact is not None
    forged = SUCCESS.artifact.model_copy(update={"size_bytes": BEYOND})
    result = SUCCESS.model_copy(update={"artifact": forged})
    seen = Observation(resource(), job(ended("Complete")), (terminated(0, result),))
    wanted = status.build_succeeded(seen, result, at(60))
    found, _ = asyncio.run(actions.write_end(server, seen, wanted, at(60)))
    return found


@pytest.mark.parametrize("refusal", [400, 422])
def test_a_result_that_the_schema_rejects_fails_the_export(refusal: int) -> None:
    server = Server(refusal)
    found = written(server)
    assert found.failure is not None
    assert found.failure.reason == Reason.INTERNAL_ERROR
    assert "sizeBytes" in found.failure.message
    assert server.stored["status"]["phase"] == "Failed"


@pytest.mark.parametrize("refusal", [403, 409, 500])
def test_temporary_errors_are_retried(refusal: int) -> None:
    with pytest.raises(ApiError):
        written(Server(refusal))


@pytest.mark.parametrize(("refusal", "gone"), [(0, False), (404, True)])
def test_a_job_is_deleted_by_uid_and_version(refusal: int, gone: bool) -> None:
    server, seen = Server(refusal), Observation(resource(), job())
    done = asyncio.run(actions.act(server, DeleteJob(job()), seen))
    assert server.preconditions == {"uid": "job-1", "resourceVersion": "20"}
    assert (done.seen.job is None) == gone
    assert gone or (done.seen.job is not None and done.seen.job.deleting)


def test_a_job_that_has_changed_is_not_deleted() -> None:
    """It may have finished, and then its result must be reported."""
    with pytest.raises(ApiError):
        asyncio.run(actions.act(Server(409), DeleteJob(job()), Observation(resource(), job())))
