"""The calls to the API server that the operator needs; the only file that knows `kubernetes`.

One shared session, a limit on requests per second, a timeout on each, and one kind of error.
Objects are plain JSON: the generated models would cost memory and lose unknown fields.
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
from modelexport_operator.limiter import Limiter
from modelexport_operator.settings import ApiLimits

Body = dict[str, Any]
Counted = Callable[[str, str, int], None]
"""Called with verb, resource and HTTP status (0: no answer) of each request."""

EXPORTS = f"/apis/{API_VERSION}"
JOBS = "/apis/batch/v1"
CORE = "/api/v1"
EVENTS = "/apis/events.k8s.io/v1"
LEASES = "/apis/coordination.k8s.io/v1"

NOT_FOUND, CONFLICT = 404, 409
PAGE = 500
POD_PAGE = 50
_TIMEOUT = 30.0
WATCH_SECONDS = 240
"""After which the API server ends a watch; then it is begun anew."""
_LOG_BYTES = 256 * 1024
_MERGE_PATCH = "application/merge-patch+json"
_APPLY_PATCH = "application/apply-patch+yaml"


class ApiError(Exception):
    """The API server refused a request (`status`), or did not answer (status 0)."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message


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
    """Return the path of a collection; all namespaces where none is named."""
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"


class Api:
    """The API server. Use `connect` to make one, `close` when done."""

    def __init__(
        self, client: kubernetes_client.ApiClient, limits: ApiLimits, counted: Counted
    ) -> None:
        self._client = client
        self._limiter = Limiter(limits.qps, limits.burst)
        self._log_limiter = Limiter(limits.log_qps, max(1, int(limits.log_qps)))
        self._counted = counted

    @classmethod
    async def connect(cls, limits: ApiLimits, counted: Counted) -> Api:
        """Return an Api with the pod's service account, or KUBECONFIG where there is one."""
        await _load_credentials()
        configuration = kubernetes_client.Configuration.get_default_copy()
        configuration.connection_pool_maxsize = 0  # each watch has a connection of its own
        return cls(kubernetes_client.ApiClient(configuration), limits, counted)

    async def close(self) -> None:
        """Close the session."""
        await self._client.close()  # type: ignore[no-untyped-call]

    async def pages(
        self, root: str, namespace: str | None, plural: str, selector: str = "", limit: int = PAGE
    ) -> AsyncIterator[Page]:
        """List a collection in chunks; all carry the version that the whole list is of."""
        query = {"limit": str(limit), **({"labelSelector": selector} if selector else {})}
        path = collection(root, namespace, plural)
        while True:
            found = await self._json(_Request("GET", path, plural, query))
            meta = found["metadata"]
            yield Page(found.get("items") or [], meta["resourceVersion"])
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
        """Send a request about any resource; `resource` is what it is counted as."""
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

        The uid in `metadata`, and the resourceVersion where there is one, must still be right.
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
        """Create a Job; a field that Kubernetes does not know is an error, not dropped."""
        path = collection(JOBS, manifest["metadata"]["namespace"], "jobs")
        return await self._json(
            _Request("POST", path, "jobs", {"fieldValidation": "Strict"}, manifest)
        )

    async def patch_job(self, namespace: str, name: str, patch: Body) -> Body:
        """Merge-patch a Job."""
        path = f"{collection(JOBS, namespace, 'jobs')}/{name}"
        return await self._json(_Request("PATCH", path, "jobs", {}, patch, _MERGE_PATCH))

    async def delete_job(self, namespace: str, name: str, preconditions: Body) -> Body:
        """Delete a Job, unless it has changed; it stays until its pods are gone."""
        path = f"{collection(JOBS, namespace, 'jobs')}/{name}"
        return await self._json(_deletion(path, "jobs", preconditions, "Foreground"))

    async def delete_export(self, namespace: str, name: str, preconditions: Body) -> None:
        """Delete a ModelExport, unless it has changed; what it owns goes after it."""
        path = f"{collection(EXPORTS, namespace, PLURAL)}/{name}"
        await self._json(_deletion(path, PLURAL, preconditions, "Background"))

    async def pods_of_job(self, namespace: str, job_uid: str) -> AsyncIterator[Body]:
        """Yield the pods of one Job, by few at a time: each carries the whole manifest."""
        selector = f"{names.CONTROLLER_UID_LABEL}={job_uid}"
        async for page in self.pages(CORE, namespace, "pods", selector, POD_PAGE):
            for body in page.items:
                yield body

    async def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> str:
        """Read the last lines of a container's log, within the budget for logs."""
        await self._log_limiter.wait()
        query = {
            "container": container,
            "tailLines": str(lines),
            "limitBytes": str(_LOG_BYTES),
        }
        path = f"{collection(CORE, namespace, 'pods')}/{pod}/log"
        return (await self._send(_Request("GET", path, "pods/log", query))).decode(errors="replace")

    async def why_no_pod(self, namespace: str, job_uid: str) -> str | None:
        """Return what the Job controller last said about a pod that it could not create."""
        query = {"fieldSelector": f"regarding.uid={job_uid},reason=FailedCreate", "limit": "10"}
        found = await self._json(
            _Request("GET", collection(EVENTS, namespace, "events"), "events", query)
        )
        notes = [item.get("note", "") for item in found.get("items") or []]
        return notes[-1] if notes else None

    async def create_event(self, event: Body) -> None:
        """Create an Event."""
        path = collection(EVENTS, event["metadata"]["namespace"], "events")
        await self._json(_Request("POST", path, "events", {}, event))

    async def get_lease(self, namespace: str, name: str) -> Body:
        """Read a Lease, without waiting for the limit: leadership must not starve."""
        path = f"{collection(LEASES, namespace, 'leases')}/{name}"
        return await self._json(_Request("GET", path, "leases"), limited=False)

    async def write_lease(self, lease: Body) -> Body:
        """Create the Lease, or replace the version of it that was read."""
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
            data: bytes = await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            status = 0
            raise ApiError(0, "NoAnswer", str(error) or type(error).__name__) from error
        finally:
            self._counted(request.method, request.resource, status)
        if status >= 400:  # noqa: PLR2004 - HTTP's boundary
            raise _refusal(status, reason, data)
        return data

    async def _open(self, request: _Request) -> aiohttp.ClientResponse:
        """Return an answer whose body is read as it comes."""
        status = 0
        patience = aiohttp.ClientTimeout(total=WATCH_SECONDS + _TIMEOUT, sock_connect=_TIMEOUT)
        try:
            answer: aiohttp.ClientResponse = (await self._call(request, patience)).response
            status = answer.status
            if status >= 400:  # noqa: PLR2004 - HTTP's boundary
                raise _refusal(status, answer.reason or "", await answer.read())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ApiError(0, "NoAnswer", str(error) or type(error).__name__) from error
        finally:
            self._counted("WATCH", request.resource, status)
        return answer

    async def _call(self, request: _Request, timeout: object = _TIMEOUT) -> Any:  # noqa: ANN401, ASYNC109
        """Send it; the library is not typed."""
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


def _refusal(status: int, reason: str, data: bytes) -> ApiError:
    try:
        told = json.loads(data)
    except ValueError:
        told = {}
    if not isinstance(told, dict):
        told = {}
    fallback = data[:512].decode(errors="replace")
    return ApiError(status, told.get("reason") or reason, told.get("message") or fallback)
