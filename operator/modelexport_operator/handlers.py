"""Watch ModelExports and their Jobs with kopf; the only file that imports it.

kopf only passes events to the cache and the queue: for event handlers it does not retry or report
exceptions, store state on the objects, or need a finalizer. With these limits, ten thousand
resources need less than 100 MB.
"""

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import replace
from typing import Any, cast

import kopf

from modelexport_api import GROUP, PLURAL, VERSION
from modelexport_operator import names
from modelexport_operator.cache import Cache
from modelexport_operator.queue import WorkQueue

WATCHED = ((GROUP, VERSION, PLURAL), ("batch", "v1", "jobs"))
"""The watched resources; `rbac.py` grants exactly these. A forbidden watch ends the process."""

log = logging.getLogger(__name__)


def settings() -> kopf.OperatorSettings:
    """Return kopf's settings."""
    chosen = kopf.OperatorSettings()
    chosen.scanning.disabled = True
    chosen.posting.enabled = False
    chosen.queueing.worker_limit = 200
    chosen.queueing.idle_timeout = 0.1
    chosen.watching.chunk_size = 500
    chosen.watching.server_timeout = 300
    chosen.watching.label_selectors["batch", "v1", "jobs"] = names.UID_LABEL
    return chosen


def registry(cache: Cache, queue: WorkQueue) -> kopf.OperatorRegistry:
    """Return the handlers."""
    found = kopf.OperatorRegistry()
    kopf.on.login(registry=found, id="login", retries=3)(_login)

    async def export_seen(event: Any, **_: Any) -> None:  # noqa: ANN401 - kopf's signature
        try:
            _export(cache, queue, event["type"], event["object"])
        except Exception:
            log.exception("failed to handle ModelExport event; next resync will retry")

    async def job_seen(event: Any, **_: Any) -> None:  # noqa: ANN401 - kopf's signature
        try:
            _job(cache, queue, event["type"], event["object"])
        except Exception:
            log.exception("failed to handle Job event; next resync will retry")

    exports, jobs = WATCHED
    kopf.on.event(*exports, registry=found, id="export")(export_seen)
    kopf.on.event(*jobs, registry=found, id="job", labels={names.UID_LABEL: kopf.PRESENT})(job_seen)
    return found


async def watch(
    cache: Cache, queue: WorkQueue, namespaces: list[str], stop: asyncio.Event, ready: asyncio.Event
) -> None:
    """Watch until `stop` is set; raises if a watch fails."""
    await kopf.operator(
        registry=registry(cache, queue),
        settings=settings(),
        # Not used without peering, but kopf would look up the user, who has no name in a container.
        identity=cast("Any", "modelexport-operator"),
        standalone=True,
        clusterwide=not namespaces,
        namespaces=namespaces,
        stop_flag=stop,
        ready_flag=ready,
    )


def _export(cache: Cache, queue: WorkQueue, kind: str | None, body: Any) -> None:  # noqa: ANN401
    uid = body["metadata"]["uid"]
    if kind == "DELETED":
        cache.drop_resource(uid)
        queue.add(uid)
    elif cache.put_resource(body):
        queue.add(uid)


def _job(cache: Cache, queue: WorkQueue, kind: str | None, body: Any) -> None:  # noqa: ANN401
    owner = cache.drop_job(body) if kind == "DELETED" else cache.put_job(body)
    if owner:
        queue.add(owner)


def _login(**kwargs: Any) -> kopf.ConnectionInfo | None:  # noqa: ANN401 - kopf's signature
    """Use the same credentials as `client.py`."""
    return kopf.login_with_kubeconfig(**kwargs) or _login_in_pod(**kwargs)


def _login_in_pod(**kwargs: Any) -> kopf.ConnectionInfo | None:  # noqa: ANN401 - as above
    """Take the API server's address from the pod's environment, as other clients do.

    kopf resolves kubernetes.default.svc, which fails if DNS is down.
    """
    found = kopf.login_with_service_account(**kwargs)
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    if found is None or host is None:
        return found
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    address = f"[{host}]" if ":" in host else host
    return replace(found, server=f"https://{address}:{port}")
