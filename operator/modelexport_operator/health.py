"""/healthz and /metrics.

/healthz is a dead man's switch: it asks whether work gets done, not whether the process is there.
It fails when the last complete listing is too old (a dead watch would go unnoticed) or when a key
waits for too long (workers that hang).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

STUCK_SECONDS = 300.0
MISSED_RESYNCS = 3


@dataclass(frozen=True)
class Pulse:
    """The signs of life. A replica that does not lead has none to give, and is healthy."""

    leading: bool
    since_resync: float
    oldest_key: float


def ailments(pulse: Pulse, resync_seconds: float) -> list[str]:
    """Return what is wrong, as sentences."""
    if not pulse.leading:
        return []
    found = []
    limit = MISSED_RESYNCS * resync_seconds
    if pulse.since_resync > limit:
        found.append(
            f"the last resync was {pulse.since_resync:.0f} s ago, the limit is {limit:.0f}"
        )
    if pulse.oldest_key > STUCK_SECONDS:
        found.append(f"a key waits for {pulse.oldest_key:.0f} s, the limit is {STUCK_SECONDS:.0f}")
    return found


async def serve(
    port: int, pulse: Callable[[], Pulse], resync_seconds: float, registry: CollectorRegistry
) -> web.AppRunner:
    """Start serving; `cleanup` of what is returned ends it."""

    async def healthz(_request: web.Request) -> web.Response:
        wrong = ailments(pulse(), resync_seconds)
        return web.Response(text="\n".join(wrong) or "ok", status=503 if wrong else 200)

    async def metrics(_request: web.Request) -> web.Response:
        headers = {"Content-Type": CONTENT_TYPE_LATEST}
        return web.Response(body=generate_latest(registry), headers=headers)

    app = web.Application()
    app.add_routes([web.get("/healthz", healthz), web.get("/metrics", metrics)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, port=port).start()
    return runner
