"""Requests to the API server; the only file that imports `kubernetes`.

One shared session, a limit on requests per second, a timeout for each, and one type of error.
Objects are plain JSON: the generated models would need more memory and drop unknown fields.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import aiohttp
from kubernetes.aio import client as kubernetes_client
from kubernetes.aio import config as kubernetes_config

from modelexport_operator.limiter import Limiter, asked_pause
from modelexport_operator.proxies import proxy_of
from modelexport_operator.rejections import Cause, cause_of
from modelexport_operator.settings import ApiLimits

Body = dict[str, Any]
CountRequest = Callable[[str, str, int], None]
"""Called with verb, resource and HTTP status (0: no response) of each request."""

NOT_FOUND, CONFLICT = 404, 409
PAGE = 200
_FIRST_PAGE = 25
_PAGE_BYTES = 8 * 2**20
_TIMEOUT = 30.0
WATCH_SECONDS = 240
"""The API server ends a watch after this time; then a new one is started."""


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
class Request:
    """A request; `resource` is its label in the metrics."""

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


class Transport:
    """Sends requests. Create it with `connect`, and `close` it."""

    def __init__(
        self, client: kubernetes_client.ApiClient, limits: ApiLimits, counted: CountRequest
    ) -> None:
        self._client = client
        self._limiter = Limiter(limits.qps, limits.burst)
        self._log_limiter = Limiter(limits.log_qps, max(1, int(limits.log_qps)))
        self._count_request = counted

    @classmethod
    async def connect(cls, limits: ApiLimits, counted: CountRequest) -> Self:
        """Return one with the credentials of KUBECONFIG if set, or of the service account."""
        await _load_credentials()
        configuration = kubernetes_client.Configuration.get_default_copy()
        configuration.connection_pool_maxsize = 0  # each watch has its own connection
        configuration.proxy = configuration.proxy or proxy_of(configuration.host)
        # Otherwise a thread reads the environment and a .netrc file for every request.
        configuration.client_session_kwargs = {"trust_env": False}
        return cls(kubernetes_client.ApiClient(configuration), limits, counted)

    async def close(self) -> None:
        """Close the session."""
        await self._client.close()  # type: ignore[no-untyped-call]

    @property
    def busy(self) -> bool:
        """Return whether requests wait for others."""
        return self._limiter.is_empty

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
            data = await self.send(Request("GET", path, plural, query))
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
        request = Request(method, path, resource, dict(query or {}), body, content_type)
        return await self.answer(request)

    async def watch(
        self, path: str, resource: str, query: Mapping[str, str]
    ) -> AsyncGenerator[Body, None]:
        """Yield the events of a watch until the API server ends it."""
        asked = {**query, "watch": "true", "timeoutSeconds": str(WATCH_SECONDS)}
        await self._limiter.wait()
        answer = await self._open(Request("GET", path, resource, asked))
        try:
            while line := await answer.content.readline():
                event: Body = json.loads(line)
                yield event
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise ApiError(0, "NoAnswer", str(error) or type(error).__name__) from error
        finally:
            answer.close()

    async def answer(self, request: Request, *, limited: bool = True) -> Body:
        """Send a request; return the answer's JSON."""
        if limited:
            await self._limiter.wait()
        parsed: Body = json.loads(await self.send(request))
        return parsed

    async def send(self, request: Request) -> bytes:
        """Send a request; return the answer's body. Raises ApiError."""
        status, reason = 0, ""
        try:
            answer = await self._call(request)
            status, reason = answer.status, answer.reason
            data: bytes = await answer.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            status = 0
            raise ApiError(0, "NoAnswer", str(error) or type(error).__name__) from error
        finally:
            self._count_request(request.method, request.resource, status)
        if status >= 400:  # noqa: PLR2004 - HTTP's boundary
            raise _to_error(status, reason, data)
        return data

    async def _open(self, request: Request) -> aiohttp.ClientResponse:
        """Return a response whose body is read as a stream."""
        status = 0
        timeout = aiohttp.ClientTimeout(total=WATCH_SECONDS + _TIMEOUT, sock_connect=_TIMEOUT)
        try:
            answer: aiohttp.ClientResponse = (await self._call(request, timeout)).response
            status = answer.status
            if status >= 400:  # noqa: PLR2004 - HTTP's boundary
                raise _to_error(status, answer.reason or "", await answer.read())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ApiError(0, "NoAnswer", str(error) or type(error).__name__) from error
        finally:
            self._count_request("WATCH", request.resource, status)
        return answer

    async def _call(self, request: Request, timeout: object = _TIMEOUT) -> Any:  # noqa: ANN401, ASYNC109
        """Send the request, and pause as the answer asks. The library has no types."""
        headers = {"Content-Type": request.content_type, "Accept": "application/json"}
        _, url, headers, _, _ = await self._client.param_serialize(
            request.method,
            request.path,
            query_params=list(request.query.items()),
            header_params=headers,
            auth_settings=["BearerToken"],
        )
        answer: Any = await self._client.call_api(
            request.method, url, headers, request.body, _request_timeout=timeout
        )
        self._limiter.hold(asked_pause(answer.status, answer.getheaders()))
        return answer


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
