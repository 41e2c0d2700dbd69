"""The requests to the API server; the only file that imports `kubernetes`.

One shared session, a limit on requests per second, a timeout for each, and one type of error.
Objects are plain JSON: the generated models would need more memory and drop unknown fields.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from kubernetes.aio import client as kubernetes_client
from kubernetes.aio import config as kubernetes_config

from modelexport_api import API_VERSION, KIND, PLURAL
from modelexport_operator import names
from modelexport_operator.limiter import Limiter, asked_pause
from modelexport_operator.rejections import Cause, Rejection, cause_of
from modelexport_operator.settings import ApiLimits

Body = dict[str, Any]
CountRequest = Callable[[str, str, int], None]
"""Called with verb, resource and HTTP status (0: no response) of each request."""

EXPORTS = f"/apis/{API_VERSION}"
JOBS = "/apis/batch/v1"
CORE = "/api/v1"
EVENTS = "/apis/events.k8s.io/v1"
LEASES = "/apis/coordination.k8s.io/v1"

NOT_FOUND, CONFLICT = 404, 409
PAGE = 500
POD_PAGE = 50
_FIRST_PAGE = 25
_PAGE_BYTES = 8 * 2**20
_TIMEOUT = 30.0
WATCH_SECONDS = 240
"""The API server ends a watch after this time; then a new one is started."""
_LOG_BYTES = 256 * 1024
_MERGE_PATCH = "application/merge-patch+json"
_APPLY_PATCH = "application/apply-patch+yaml"


class ApiError(Exception):
    """The API server rejected a request (`status`), or did not respond (status 0)."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message

    @property
    def cause(self) -> Cause:
        """Return the cause of the rejection, where status and reason do not say it."""
        return cause_of(self.message)


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    resource: str
    query: dict[str, str] = field(default_factory=dict)
    body: Body | None = None
    content_type: str = "application/json"


@dataclass(frozen=True)
class Page:
    """A chunk of a list."""

    items: list[Body]
    version: str


def collection(root: str, namespace: str | None, plural: str) -> str:
    """Return the path of a collection, in all namespaces if `namespace` is None."""
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"


def next_limit(size: int, objects: int, most: int) -> int:
    """Return how many objects of the last chunk's average size the next chunk may have."""
    if objects == 0:
        return most
    return max(1, min(most, _PAGE_BYTES * objects // size))


class Api:
    """A client of the API server. Create it with `connect`, and `close` it."""

    def __init__(
        self, client: kubernetes_client.ApiClient, limits: ApiLimits, counted: CountRequest
    ) -> None:
        self._client = client
        self._limiter = Limiter(limits.qps, limits.burst)
        self._log_limiter = Limiter(limits.log_qps, max(1, int(limits.log_qps)))
        self._count_request = counted

    @classmethod
    async def connect(cls, limits: ApiLimits, counted: CountRequest) -> Api:
        """Return an Api with the credentials of KUBECONFIG if set, or of the service account."""
        await _load_credentials()
        configuration = kubernetes_client.Configuration.get_default_copy()
        configuration.connection_pool_maxsize = 0  # each watch has its own connection
        return cls(kubernetes_client.ApiClient(configuration), limits, counted)

    async def close(self) -> None:
        """Close the session."""
        await self._client.close()  # type: ignore[no-untyped-call]

    async def pages(
        self, root: str, namespace: str | None, plural: str, selector: str = "", limit: int = PAGE
    ) -> AsyncIterator[Page]:
        """List a collection in chunks; all have the version of the whole list.

        The first chunk is small and shows how large the objects are: a ModelExport may have 1 MB.
        """
        query = {"labelSelector": selector} if selector else {}
        query["limit"] = str(min(limit, _FIRST_PAGE))
        path = collection(root, namespace, plural)
        while True:
            await self._limiter.wait()
            data = await self._send(_Request("GET", path, plural, query))
            found = json.loads(data)
            size = len(data)
            del data  # no chunk is in memory twice
            meta, items = found["metadata"], found.get("items") or []
            query["limit"] = str(next_limit(size, len(items), limit))
            del found
            yield Page(items, meta["resourceVersion"])
            del items
            if not meta.get("continue"):
                return
            query["continue"] = meta["continue"]

    async def call(
        self,
        method: str,
        path: str,
        resource: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Body | None = None,
        content_type: str = "application/json",
    ) -> Body:
        """Send a request; `resource` is its label in the metrics."""
        request = _Request(method, path, resource, dict(query or {}), body, content_type)
        return await self._json(request)

    async def watch(
        self, path: str, resource: str, query: Mapping[str, str]
    ) -> AsyncGenerator[Body, None]:
        """Yield the events of a watch until the API server ends it."""
        asked = {**query, "watch": "true", "timeoutSeconds": str(WATCH_SECONDS)}
        await self._limiter.wait()
        answer = await self._open(_Request("GET", path, resource, asked))
        try:
            while line := await answer.content.readline():
                event: Body = json.loads(line)
                yield event
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise ApiError(0, "NoAnswer", str(error) or type(error).__name__) from error
        finally:
            answer.close()

    async def get_export(self, namespace: str, name: str) -> Body:
        """Read a ModelExport."""
        path = f"{collection(EXPORTS, namespace, PLURAL)}/{name}"
        return await self._json(_Request("GET", path, PLURAL))

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
        return await self._json(
            _Request("PATCH", path, f"{PLURAL}/status", query, body, _APPLY_PATCH)
        )

    async def get_job(self, namespace: str, name: str) -> Body:
        """Read a Job."""
        return await self._json(
            _Request("GET", f"{collection(JOBS, namespace, 'jobs')}/{name}", "jobs")
        )

    async def create_job(self, manifest: Body) -> Body:
        """Create a Job; unknown fields are an error."""
        path = collection(JOBS, manifest["metadata"]["namespace"], "jobs")
        return await self._json(
            _Request("POST", path, "jobs", {"fieldValidation": "Strict"}, manifest)
        )

    async def patch_job(self, namespace: str, name: str, patch: Body) -> Body:
        """Merge-patch a Job."""
        path = f"{collection(JOBS, namespace, 'jobs')}/{name}"
        return await self._json(_Request("PATCH", path, "jobs", {}, patch, _MERGE_PATCH))

    async def delete_job(self, namespace: str, name: str, preconditions: Body) -> Body:
        """Delete a Job unless it has changed; it exists until its pods are deleted."""
        path = f"{collection(JOBS, namespace, 'jobs')}/{name}"
        return await self._json(_deletion(path, "jobs", preconditions, "Foreground"))

    async def delete_export(self, namespace: str, name: str, preconditions: Body) -> None:
        """Delete a ModelExport unless it has changed; then Kubernetes deletes what it owns."""
        path = f"{collection(EXPORTS, namespace, PLURAL)}/{name}"
        await self._json(_deletion(path, PLURAL, preconditions, "Background"))

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
        return (await self._send(_Request("GET", path, "pods/log", query))).decode(errors="replace")

    async def pod_creation_error(self, namespace: str, job_uid: str) -> Rejection | None:
        """Return why the Job controller could not create a pod, from its last Event."""
        query = {"fieldSelector": f"regarding.uid={job_uid},reason=FailedCreate", "limit": "10"}
        found = await self._json(
            _Request("GET", collection(EVENTS, namespace, "events"), "events", query)
        )
        notes = [item.get("note", "") for item in found.get("items") or []]
        return Rejection(notes[-1], cause_of(notes[-1])) if notes else None

    async def create_event(self, event: Body) -> None:
        """Create an Event."""
        path = collection(EVENTS, event["metadata"]["namespace"], "events")
        await self._json(_Request("POST", path, "events", {}, event))

    async def create_review(self, root: str, resource: str, review: Body) -> Body:
        """Ask the API server about a user, without the rate limit: a backlog delays no scrape."""
        return await self._json(
            _Request("POST", f"{root}/{resource}", resource, {}, review), limited=False
        )

    async def get_lease(self, namespace: str, name: str) -> Body:
        """Read a Lease without rate limit: renewing it must not be delayed."""
        path = f"{collection(LEASES, namespace, 'leases')}/{name}"
        return await self._json(_Request("GET", path, "leases"), limited=False)

    async def write_lease(self, lease: Body) -> Body:
        """Create the Lease, or replace the version that was read."""
        path = collection(LEASES, lease["metadata"]["namespace"], "leases")
        if "resourceVersion" not in lease["metadata"]:
            return await self._json(_Request("POST", path, "leases", {}, lease), limited=False)
        path = f"{path}/{lease['metadata']['name']}"
        return await self._json(_Request("PUT", path, "leases", {}, lease), limited=False)

    async def _json(self, request: _Request, *, limited: bool = True) -> Body:
        if limited:
            await self._limiter.wait()
        parsed: Body = json.loads(await self._send(request))
        return parsed

    async def _send(self, request: _Request) -> bytes:
        status, reason = 0, ""
        try:
            answer = await self._call(request)
            status, reason = answer.status, answer.reason
            self._limiter.hold(asked_pause(status, answer.getheaders()))
            data: bytes = await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            status = 0
            raise ApiError(0, "NoAnswer", str(error) or type(error).__name__) from error
        finally:
            self._count_request(request.method, request.resource, status)
        if status >= 400:  # noqa: PLR2004 - HTTP's boundary
            raise _to_error(status, reason, data)
        return data

    async def _open(self, request: _Request) -> aiohttp.ClientResponse:
        """Return a response whose body is read as a stream."""
        status = 0
        timeout = aiohttp.ClientTimeout(total=WATCH_SECONDS + _TIMEOUT, sock_connect=_TIMEOUT)
        try:
            answer: aiohttp.ClientResponse = (await self._call(request, timeout)).response
            status = answer.status
            self._limiter.hold(asked_pause(status, answer.headers))
            if status >= 400:  # noqa: PLR2004 - HTTP's boundary
                raise _to_error(status, answer.reason or "", await answer.read())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ApiError(0, "NoAnswer", str(error) or type(error).__name__) from error
        finally:
            self._count_request("WATCH", request.resource, status)
        return answer

    async def _call(self, request: _Request, timeout: object = _TIMEOUT) -> Any:  # noqa: ANN401, ASYNC109
        """Send the request. The library has no types."""
        headers = {"Content-Type": request.content_type, "Accept": "application/json"}
        _, url, headers, _, _ = await self._client.param_serialize(
            request.method,
            request.path,
            query_params=list(request.query.items()),
            header_params=headers,
            auth_settings=["BearerToken"],
        )
        return await self._client.call_api(
            request.method, url, headers, request.body, _request_timeout=timeout
        )


def _deletion(path: str, resource: str, preconditions: Body, propagation: str) -> _Request:
    body = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": preconditions,
        "propagationPolicy": propagation,
    }
    return _Request("DELETE", path, resource, {}, body)


async def _load_credentials() -> None:
    kubeconfig = os.environ.get("KUBECONFIG")
    if kubeconfig:
        await kubernetes_config.load_kube_config(kubeconfig)  # type: ignore[no-untyped-call]
    else:
        kubernetes_config.load_incluster_config()  # type: ignore[no-untyped-call]


def _to_error(status: int, reason: str, data: bytes) -> ApiError:
    try:
        body = json.loads(data)
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    fallback = data[:512].decode(errors="replace")
    return ApiError(status, body.get("reason") or reason, body.get("message") or fallback)
