"""The pod's part of the trace: one span for its process, one for each stage and failed attempt.

Sent at the end, from the times that were logged: the SDK is imported after the result is
written, and only if the operator handed over a trace and an endpoint is set.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence

from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_api.tracing import (
    TRACEPARENT_ENV,
    Span,
    SpanContext,
    is_enabled,
    parse_traceparent,
)
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.stage_times import StageTime

SERVICE = "modelexport-exporter"
SECONDS = 2.0
"""For sending; a collector that does not answer delays the end of the pod by no more."""


def find_parent(environment: Mapping[str, str]) -> SpanContext | None:
    """Return the operator's span, if spans are to be sent."""
    if not is_enabled(environment):
        return None
    parent = parse_traceparent(environment.get(TRACEPARENT_ENV, ""))
    return parent if parent is not None and parent.sampled else None


def span_of_pod(
    resource: ModelExport,
    result: PodResult,
    times: Sequence[StageTime],
    parent: SpanContext,
    lasted: tuple[float, float],
) -> Span:
    """Return the span of the pod's process, with those of its stages."""
    meta = resource.metadata
    attributes = {
        "k8s.namespace.name": meta.namespace or "",
        "modelexport.name": meta.name,
        "modelexport.uid": meta.uid or "",
        "modelexport.outcome": result.outcome,
    }
    reason = result.failure.reason.value if result.failure is not None else ""
    return Span(
        "export pod",
        *lasted,
        parent,
        attributes=attributes,
        error=reason,
        children=tuple(_span_of_stage(found) for found in times),
    )


def send(span: Span, log: Log, seconds: float = SECONDS) -> None:
    """Send a span for a limited time. Never raises: the result does not depend on it."""
    # The SDK would write lines that are not JSON.
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    logging.getLogger("opentelemetry").propagate = False
    try:
        from modelexport_api.otlp import Sender

        sender = Sender(SERVICE, os.environ)
        sender.send([span])
        if not sender.close(seconds):
            log.log("warning", f"the trace was not sent in {seconds:.0f} s")
    except Exception as error:  # noqa: BLE001 - whatever it is, the export has its result
        log.log("warning", f"TracesUnavailable: the trace was not sent: {type(error).__name__}")


def _span_of_stage(found: StageTime) -> Span:
    name = f"attempt, failed in {found.stage}" if found.failed else found.stage
    attributes = {"modelexport.stage": found.stage}
    return Span(name, found.start, found.end, None, attributes=attributes, error=found.failed)
