"""What the operator asks of the API server: exports, Jobs, pods, Events, Leases and reviews."""

from __future__ import annotations

from collections.abc import AsyncIterator

from modelexport_api import API_VERSION, KIND, PLURAL
from modelexport_operator import names
from modelexport_operator.rejections import Rejection, cause_of
from modelexport_operator.transport import Body, Request, Transport, collection

EXPORTS = f"/apis/{API_VERSION}"
JOBS = "/apis/batch/v1"
CORE = "/api/v1"
EVENTS = "/apis/events.k8s.io/v1"
LEASES = "/apis/coordination.k8s.io/v1"

POD_PAGE = 50
_LOG_BYTES = 256 * 1024
_MERGE_PATCH = "application/merge-patch+json"
_APPLY_PATCH = "application/apply-patch+yaml"


class Api(Transport):
    """A client of the API server. Create it with `connect`, and `close` it."""

    async def get_export(self, namespace: str, name: str) -> Body:
        """Read a ModelExport."""
        path = f"{collection(EXPORTS, namespace, PLURAL)}/{name}"
        return await self.answer(Request("GET", path, PLURAL))

    async def apply_status(
        self,
        metadata: Body,
        status: Body,
        manager: str,
        *,
        force: bool,
    ) -> Body:
        """Server-side apply the fields of the status that `manager` owns.

        Fails if the uid in `metadata`, or its resourceVersion if set, is no longer current.
        """
        path = f"{collection(EXPORTS, metadata['namespace'], PLURAL)}/{metadata['name']}/status"
        query = {"fieldManager": manager, "force": str(force).lower()}
        body = {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": metadata,
            "status": status,
        }
        return await self.answer(
            Request("PATCH", path, f"{PLURAL}/status", query, body, _APPLY_PATCH)
        )

    async def get_job(self, namespace: str, name: str) -> Body:
        """Read a Job."""
        return await self.answer(
            Request("GET", f"{collection(JOBS, namespace, 'jobs')}/{name}", "jobs")
        )

    async def create_job(self, manifest: Body) -> Body:
        """Create a Job; unknown fields are an error."""
        path = collection(JOBS, manifest["metadata"]["namespace"], "jobs")
        return await self.answer(
            Request("POST", path, "jobs", {"fieldValidation": "Strict"}, manifest)
        )

    async def patch_job(self, namespace: str, name: str, patch: Body) -> Body:
        """Merge-patch a Job."""
        path = f"{collection(JOBS, namespace, 'jobs')}/{name}"
        return await self.answer(Request("PATCH", path, "jobs", {}, patch, _MERGE_PATCH))

    async def delete_job(self, namespace: str, name: str, preconditions: Body) -> Body:
        """Delete a Job unless it has changed; it exists until its pods are deleted."""
        path = f"{collection(JOBS, namespace, 'jobs')}/{name}"
        return await self.answer(_deletion(path, "jobs", preconditions, "Foreground"))

    async def delete_export(self, namespace: str, name: str, preconditions: Body) -> None:
        """Delete a ModelExport unless it has changed; then Kubernetes deletes what it owns."""
        path = f"{collection(EXPORTS, namespace, PLURAL)}/{name}"
        await self.answer(_deletion(path, PLURAL, preconditions, "Background"))

    async def pods_of_job(self, namespace: str, job_uid: str) -> AsyncIterator[Body]:
        """Yield the pods of one Job, in small pages: each pod contains the whole manifest."""
        selector = f"{names.CONTROLLER_UID_LABEL}={job_uid}"
        async for page in self.pages(CORE, namespace, "pods", selector, POD_PAGE):
            for body in page.items:
                yield body

    async def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> str:
        """Read the last lines of a container's log, within the rate limit for logs."""
        await self._log_limiter.wait()
        query = {
            "container": container,
            "tailLines": str(lines),
            "limitBytes": str(_LOG_BYTES),
        }
        path = f"{collection(CORE, namespace, 'pods')}/{pod}/log"
        return (await self.send(Request("GET", path, "pods/log", query))).decode(errors="replace")

    async def pod_creation_error(self, namespace: str, job_uid: str) -> Rejection | None:
        """Return why the Job controller could not create a pod, from its last Event."""
        query = {"fieldSelector": f"regarding.uid={job_uid},reason=FailedCreate", "limit": "10"}
        found = await self.answer(
            Request("GET", collection(EVENTS, namespace, "events"), "events", query)
        )
        notes = [item.get("note", "") for item in found.get("items") or []]
        return Rejection(notes[-1], cause_of(notes[-1])) if notes else None

    async def create_event(self, event: Body) -> None:
        """Create an Event."""
        path = collection(EVENTS, event["metadata"]["namespace"], "events")
        await self.answer(Request("POST", path, "events", {}, event))

    async def create_review(self, root: str, resource: str, review: Body) -> Body:
        """Ask the API server about a user, without the rate limit: a backlog delays no scrape."""
        return await self.answer(
            Request("POST", f"{root}/{resource}", resource, {}, review), limited=False
        )

    async def get_lease(self, namespace: str, name: str) -> Body:
        """Read a Lease without rate limit: renewing it must not be delayed."""
        path = f"{collection(LEASES, namespace, 'leases')}/{name}"
        return await self.answer(Request("GET", path, "leases"), limited=False)

    async def write_lease(self, lease: Body) -> Body:
        """Create the Lease, or replace the version that was read."""
        path = collection(LEASES, lease["metadata"]["namespace"], "leases")
        if "resourceVersion" not in lease["metadata"]:
            return await self.answer(Request("POST", path, "leases", {}, lease), limited=False)
        path = f"{path}/{lease['metadata']['name']}"
        return await self.answer(Request("PUT", path, "leases", {}, lease), limited=False)


def _deletion(path: str, resource: str, preconditions: Body, propagation: str) -> Request:
    body = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": preconditions,
        "propagationPolicy": propagation,
    }
    return Request("DELETE", path, resource, {}, body)
