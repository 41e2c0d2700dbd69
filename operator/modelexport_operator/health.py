"""/healthz and /metrics.

/healthz checks whether the operator makes progress, not only whether the process runs. It fails if
the last complete listing is too old (a broken watch would not be noticed) or if a key waits for
too long (workers that hang).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

STUCK_SECONDS = 300.0
MISSED_RESYNCS = 3


@dataclass(frozen=True)
class Health:
    """What /healthz checks. A replica that is not the leader is always healthy."""

    leading: bool
    since_resync: float
    oldest_key: float


def find_problems(health: Health, resync_seconds: float) -> list[str]:
    """Return a sentence for each problem."""
    if not health.leading:
        return []
    found = []
    limit = MISSED_RESYNCS * resync_seconds
    if health.since_resync > limit:
        found.append(
            f"the last resync was {health.since_resync:.0f} s ago, the limit is {limit:.0f} s"
        )
    if health.oldest_key > STUCK_SECONDS:
        waited = f"a key has been waiting for {health.oldest_key:.0f} s"
        found.append(f"{waited}, the limit is {STUCK_SECONDS:.0f} s")
    return found


async def serve(
    port: int, health: Callable[[], Health], resync_seconds: float, registry: CollectorRegistry
) -> web.AppRunner:
    """Start the server; call `cleanup` of the returned runner to stop it."""

    async def healthz(_request: web.Request) -> web.Response:
        problems = find_problems(health(), resync_seconds)
        return web.Response(text="\n".join(problems) or "ok", status=503 if problems else 200)

    async def metrics(_request: web.Request) -> web.Response:
        headers = {"Content-Type": CONTENT_TYPE_LATEST}
        return web.Response(body=generate_latest(registry), headers=headers)

    app = web.Application()
    app.add_routes([web.get("/healthz", healthz), web.get("/metrics", metrics)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, port=port).start()
    return runner
