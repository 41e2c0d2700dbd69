"""Watch ModelExportTriggers with kopf; the only file that imports it.

Triggers are few and small. ModelExports and Jobs may be many and large, and the kinds that triggers
name may be missing: these are watched by `stream`. kopf only passes events on: for event handlers
it does not retry or report exceptions, store state on the objects, or need a finalizer.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, cast

import kopf

from modelexport_api import GROUP, VERSION
from modelexport_api.trigger import TRIGGER_PLURAL
from modelexport_operator.watches import WatchError

WATCHED = (GROUP, VERSION, TRIGGER_PLURAL)
"""The watched resource; `rbac.py` grants it. A forbidden watch ends the process."""

_BACKOFFS = (1, 2, 4, 8, 15)
"""Seconds between attempts: a refused watch ends the process after 30 s, as in `watches`."""

log = logging.getLogger(__name__)


class TriggerSink(Protocol):
    """What is done with triggers."""

    def put_trigger(self, body: Mapping[str, Any]) -> None:
        """Store a trigger."""

    def drop_trigger(self, uid: str) -> None:
        """Remove a deleted trigger."""


def settings() -> kopf.OperatorSettings:
    """Return kopf's settings."""
    chosen = kopf.OperatorSettings()
    chosen.scanning.disabled = True
    chosen.posting.enabled = False
    chosen.queueing.worker_limit = 20
    chosen.queueing.idle_timeout = 0.1
    chosen.watching.chunk_size = 50
    chosen.watching.server_timeout = 300
    chosen.networking.error_backoffs = _BACKOFFS
    return chosen


def registry(sink: TriggerSink) -> kopf.OperatorRegistry:
    """Return the handlers."""
    found = kopf.OperatorRegistry()
    kopf.on.login(registry=found, id="login", retries=3)(_login)

    async def trigger_seen(event: Any, **_: Any) -> None:  # noqa: ANN401 - kopf's signature
        body = event["object"]
        try:
            if event["type"] == "DELETED":
                sink.drop_trigger(body["metadata"]["uid"])
            else:
                sink.put_trigger(body)
        except Exception:
            meta = body["metadata"]
            fields = {"namespace": meta["namespace"], "trigger": meta["name"], "uid": meta["uid"]}
            log.exception("failed to handle the event of a trigger", extra={"fields": fields})

    kopf.on.event(*WATCHED, registry=found, id="trigger")(trigger_seen)
    return found


async def watch(
    sink: TriggerSink, namespaces: list[str], stop: asyncio.Event, ready: asyncio.Event
) -> None:
    """Watch until `stop` is set. Raises WatchError."""
    running = kopf.operator(
        registry=registry(sink),
        settings=settings(),
        # Not used without peering, but kopf would look up the user, who has no name in a container.
        identity=cast("Any", "modelexport-operator"),
        standalone=True,
        clusterwide=not namespaces,
        namespaces=namespaces,
        stop_flag=stop,
        ready_flag=ready,
    )
    try:
        await running
    except Exception as error:  # kopf's types for answers of the API server are private
        words = error.args[0] if error.args else repr(error)
        raise WatchError(f"failed to watch {TRIGGER_PLURAL}: {words}") from error


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
