"""The operator's spans: the ModelExport from its creation to its end, and what changed on the way.

Off unless the settings enable traces and an endpoint is set; then nothing is imported. Spans are
put into a queue of the SDK, whose thread sends them: a collector that is down delays nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from modelexport_api.tracing import Span, context_of_export, is_enabled
from modelexport_operator.settings import TraceSettings

if TYPE_CHECKING:
    from modelexport_api.otlp import Sender

SERVICE = "modelexport-operator"
_CLOSE_SECONDS = 2.0
_ALWAYS = {"refused", "error", "delayed"}
"""Outcomes of a reconciliation that are of interest if nothing was written, too."""

log = logging.getLogger(__name__)


class Named(Protocol):
    """A ModelExport's identity."""

    @property
    def namespace(self) -> str:
        """Return its namespace."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def uid(self) -> str:
        """Return its uid."""


class Traces:
    """Takes what happened; does nothing if traces are off."""

    def __init__(self, settings: TraceSettings, environment: Mapping[str, str]) -> None:
        self._ratio = settings.sample_ratio
        self._sender = _make_sender(settings, environment)
        self._changed: set[str] = set()

    def changed(self, uid: str) -> None:
        """Note that the current reconciliation wrote something."""
        if self._sender is not None:
            self._changed.add(uid)

    def reconciled(self, uid: str, about: Named | None, outcome: str, seconds: float) -> None:
        """Record a reconciliation that ends now, if it wrote something or failed."""
        if self._sender is None:
            return
        wrote = uid in self._changed
        self._changed.discard(uid)
        parent = context_of_export(uid, self._ratio)
        if about is None or not parent.sampled or not (wrote or outcome in _ALWAYS):
            return
        now = time.time()
        attributes = {**_identify(about), "modelexport.outcome": outcome}
        error = outcome if outcome in {"refused", "error"} else ""
        span = Span("reconcile", now - seconds, now, parent, attributes=attributes, error=error)
        self._sender.send([span])

    def ended(
        self, about: Named, created: datetime | None, phase: str, reason: str, *, failed: bool
    ) -> None:
        """Record the whole export, which ends now."""
        context = context_of_export(about.uid, self._ratio)
        if self._sender is None or created is None or not context.sampled:
            return
        attributes = {
            **_identify(about),
            "modelexport.phase": phase,
            "modelexport.reason": reason,
        }
        self._sender.send(
            [
                Span(
                    "ModelExport",
                    created.timestamp(),
                    time.time(),
                    None,
                    context,
                    attributes,
                    reason if failed else "",
                )
            ]
        )

    def close(self) -> None:
        """Send what is left, for a short time; never raises."""
        if self._sender is not None and not self._sender.close(_CLOSE_SECONDS):
            log.warning("not all spans were sent in %.0f s", _CLOSE_SECONDS)


def _identify(about: Named) -> dict[str, str]:
    return {
        "k8s.namespace.name": about.namespace,
        "modelexport.name": about.name,
        "modelexport.uid": about.uid,
    }


def _make_sender(settings: TraceSettings, environment: Mapping[str, str]) -> Sender | None:
    if not settings.enabled or not is_enabled(environment):
        return None
    try:
        from modelexport_api.otlp import Sender  # noqa: PLC0415 - no cost where traces are off

        return Sender(SERVICE, environment)
    except Exception as error:  # noqa: BLE001 - a variable of traces stops no export
        log.warning(
            "TracesUnavailable: %s: %s; correct the variables OTEL_*, or install "
            "modelexport[tracing]; no trace is sent",
            type(error).__name__,
            error,
        )
        return None
