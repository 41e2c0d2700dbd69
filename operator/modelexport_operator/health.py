"""/healthz and /metrics, on one port or, with TLS for the metrics, on two.

/healthz checks progress, which a restart can bring back: it fails if something was due and nothing
has finished for a time, because all workers hang, or if a watch hangs. A backlog is no failure, nor
is an API server that does not answer: its failed attempts are finished ones.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from modelexport_operator.certificate import RenewedCertificate
from modelexport_operator.metrics_access import PATH, Gate
from modelexport_operator.transport import WATCH_SECONDS


@dataclass(frozen=True)
class Health:
    """What /healthz checks. A replica that is not the leader is always healthy."""

    leading: bool
    stalled: float
    """Seconds in which something was due and nothing has finished."""
    silent: float
    """Seconds in which a watch neither reported anything nor ended."""


def find_problems(health: Health, stalled_seconds: float) -> list[str]:
    """Return a sentence for each problem."""
    if not health.leading:
        return []
    found = []
    if health.stalled > stalled_seconds:
        found.append(
            f"something was due and nothing has finished for {health.stalled:.0f} s, "
            f"the limit is {stalled_seconds:.0f} s"
        )
    silent_seconds = WATCH_SECONDS + stalled_seconds
    if health.silent > silent_seconds:
        found.append(
            f"a watch neither reported anything nor ended for {health.silent:.0f} s, "
            f"the limit is {silent_seconds:.0f} s"
        )
    return found


async def serve(
    port: int,
    health: Callable[[], Health],
    stalled_seconds: float,
    registry: CollectorRegistry | None,
) -> web.AppRunner:
    """Start the server, without metrics if there is no registry.

    Call `cleanup` of the returned runner to stop it.
    """

    async def healthz(_request: web.Request) -> web.Response:
        problems = find_problems(health(), stalled_seconds)
        return web.Response(text="\n".join(problems) or "ok", status=503 if problems else 200)

    async def metrics(_request: web.Request) -> web.Response:
        return _exposition(registry) if registry else web.Response(status=404)

    routes = [web.get("/healthz", healthz), web.get(PATH, metrics)]
    return await _start(routes, port, None)


async def serve_securely(
    port: int, certificate: RenewedCertificate, gate: Gate, registry: CollectorRegistry
) -> web.AppRunner:
    """Start a server of metrics over TLS, for clients that the gate allows."""

    async def metrics(request: web.Request) -> web.Response:
        access = await gate.check(request.headers)
        if access.allowed:
            return _exposition(registry)
        unknown = access.status is HTTPStatus.UNAUTHORIZED
        headers = {"WWW-Authenticate": "Bearer"} if unknown else None
        return web.Response(text=access.message, status=access.status, headers=headers)

    return await _start([web.get(PATH, metrics)], port, certificate.context)


async def _start(
    routes: list[web.RouteDef], port: int, context: ssl.SSLContext | None
) -> web.AppRunner:
    app = web.Application()
    app.add_routes(routes)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, port=port, ssl_context=context).start()
    return runner


def _exposition(registry: CollectorRegistry) -> web.Response:
    headers = {"Content-Type": CONTENT_TYPE_LATEST}
    return web.Response(body=generate_latest(registry), headers=headers)
