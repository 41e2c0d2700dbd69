"""A proxy between the operator and the API server, which cuts off, is slow, or answers with errors.

It ends TLS on both sides: towards the API server it has the operator's certificate, and it lets in
only clients that the cluster's authority has signed.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from bed.certificates import KeyPair
from bed.control_plane import ControlPlane, write_kubeconfig
from bed.processes import free_port

_ADDRESS = "127.0.0.1"
_OF_CONNECTION = {"connection", "transfer-encoding", "keep-alive", "host"}
_LINE = 16 * 2**20
"""At most, for an event of a watch."""
EXPIRED, CONFLICT, BUSY, BROKEN, BROKEN_LATE = "410", "409", "429", "500", "500 after the write"
LATE, LATE_EVENT = "late requests", "late events of watches"
DELAYS = (0.5, 10.0)
"""The least and the longest delay in s."""
_STATUS = {
    EXPIRED: (410, "Expired", "The provided continue parameter or resource version is too old"),
    CONFLICT: (409, "Conflict", "the object has been modified; please apply your changes"),
    BUSY: (429, "TooManyRequests", "The apiserver is busy, please try again later"),
    BROKEN: (500, "InternalError", "etcdserver: request timed out"),
    BROKEN_LATE: (500, "InternalError", "etcdserver: request timed out, possibly applied"),
}


def errors_of(method: str, query: str) -> tuple[str, ...]:
    """Return the errors with which an API server may answer such a request."""
    if method != "GET":
        return (CONFLICT, BUSY, BROKEN, BROKEN_LATE)
    from_version = "watch=true" in query or "continue=" in query
    return (BUSY, BROKEN, EXPIRED) if from_version else (BUSY, BROKEN)


def status_object(error: str) -> bytes:
    """Return the body of an error."""
    code, reason, message = _STATUS[error]
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return json.dumps({**status, "code": code, "reason": reason, "message": message}).encode()


class ApiProxy:
    """Serves in a thread of its own until it is closed."""

    def __init__(self, plane: ControlPlane, user: str) -> None:
        self._upstream = plane.url
        self._draw = random.Random(0)
        self._share = 0.0
        self._slow = 0.0
        self._cut = False
        self._open: set[asyncio.Transport] = set()
        self._expiring: set[asyncio.Event] = set()
        self.answered: Counter[str] = Counter()
        """Errors that the proxy answered, 410s of the API server under `EXPIRED`, and delays."""
        authority = plane.authority
        self._serving = authority.issue("proxy", user="proxy", hosts=[_ADDRESS])
        self._pair: KeyPair = authority.issue("proxied", user=user)
        self._authority = authority.certificate
        self._port = free_port()
        url = f"https://{_ADDRESS}:{self._port}"
        self.kubeconfig: Path = write_kubeconfig(
            plane.run.directory, url, authority, "proxied", self._pair
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Return when it listens."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(30)

    def close(self) -> None:
        """End all connections."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def errors(self, share: float, draw: random.Random) -> Iterator[None]:
        """Answer such a share of all requests with an error, and expire all watches once."""
        self._draw, self._share = draw, share
        self._in_loop(self._expire_watches)
        try:
            yield
        finally:
            self._share = 0.0

    @contextmanager
    def slow(self, share: float, draw: random.Random) -> Iterator[None]:
        """Delay such a share of requests, of their answers, and of the events of watches."""
        self._draw, self._slow = draw, share
        try:
            yield
        finally:
            self._slow = 0.0

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Break off all connections and accept none."""
        self._cut = True
        self._in_loop(self._abort_all)
        try:
            yield
        finally:
            self._cut = False

    def _in_loop(self, act: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(act)

    def _abort_all(self) -> None:
        for transport in self._open:
            transport.abort()

    def _expire_watches(self) -> None:
        for event in self._expiring:
            event.set()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _start(self) -> None:
        outgoing = ssl.create_default_context(cafile=str(self._authority))
        outgoing.load_cert_chain(self._pair.certificate, self._pair.key)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=outgoing, limit=0),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=5),
            auto_decompress=False,
            read_bufsize=_LINE,
        )
        incoming = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(self._authority))
        incoming.verify_mode = ssl.CERT_REQUIRED
        incoming.load_cert_chain(self._serving.certificate, self._serving.key)
        app = web.Application(client_max_size=_LINE)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, _ADDRESS, self._port, ssl_context=incoming).start()

    async def _stop(self) -> None:
        self._abort_all()
        await self._runner.cleanup()
        await self._session.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        transport = request.transport
        if transport is None or self._cut:
            return _abort(request)
        self._open.add(transport)
        try:
            error = self._drawn(request.method, request.query_string)
            if error is not None and error != BROKEN_LATE:
                return self._answer(error)
            return await self._forward(request, lost=error is not None)
        except (aiohttp.ClientError, TimeoutError, OSError):
            return _abort(request)
        finally:
            self._open.discard(transport)

    def _drawn(self, method: str, query: str) -> str | None:
        if self._share and self._draw.random() < self._share:
            return self._draw.choice(errors_of(method, query))
        return None

    def _answer(self, error: str) -> web.Response:
        self.answered[error] += 1
        headers = {"Retry-After": "1"} if error == BUSY else {}
        code, body = _STATUS[error][0], status_object(error)
        return web.Response(
            status=code, body=body, headers=headers, content_type="application/json"
        )

    async def _linger(self, what: str) -> None:
        """Wait, in a share of the cases while it is slow."""
        if self._slow and self._draw.random() < self._slow:
            self.answered[what] += 1
            await asyncio.sleep(self._draw.uniform(*DELAYS))

    async def _forward(self, request: web.Request, *, lost: bool) -> web.StreamResponse:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _OF_CONNECTION}
        body = await request.read()
        url = f"{self._upstream}{request.raw_path}"
        await self._linger(LATE)  # a write may arrive when the client has given it up
        async with self._session.request(
            request.method, url, headers=headers, data=body or None, allow_redirects=False
        ) as answer:
            if lost:
                await answer.read()
                return self._answer(BROKEN_LATE)
            passed = {k: v for k, v in answer.headers.items() if k.lower() not in _OF_CONNECTION}
            self.answered[EXPIRED] += answer.status == _STATUS[EXPIRED][0]
            await self._linger(LATE)  # a write may be done when the client gives it up
            response = web.StreamResponse(status=answer.status, headers=passed)
            await response.prepare(request)
            if "watch=true" in request.query_string and answer.status == 200:
                await self._pass_events(answer, response)
            else:
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
            await response.write_eof()
            return response

    async def _pass_events(
        self, answer: aiohttp.ClientResponse, response: web.StreamResponse
    ) -> None:
        """Pass on the lines of a watch, until it expires."""
        expiring = asyncio.Event()
        self._expiring.add(expiring)
        expired = asyncio.ensure_future(expiring.wait())
        try:
            while True:
                line = asyncio.ensure_future(answer.content.readline())
                await asyncio.wait({line, expired}, return_when=asyncio.FIRST_COMPLETED)
                if expired.done():
                    line.cancel()
                    self.answered[EXPIRED] += 1
                    gone = b'{"type":"ERROR","object":' + status_object(EXPIRED) + b"}\n"
                    await response.write(gone)
                    return
                if not (found := line.result()):
                    return
                self.answered[EXPIRED] += b'"type":"ERROR"' in found[:20] and b'"code":410' in found
                await self._linger(LATE_EVENT)  # and with it all that follow
                await response.write(found)
        finally:
            self._expiring.discard(expiring)
            expired.cancel()


def _abort(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=503)
