"""Send spans with OpenTelemetry's SDK, over HTTP; the only file that imports it.

Import it where traces are on only: it takes time, and is an optional extra. Endpoint, headers,
certificates, compression and time limits are the variables of the specification.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)
from opentelemetry.trace import SpanContext as SdkContext

from modelexport_api.tracing import Span, SpanContext

_NANOSECONDS = 1_000_000_000


class _PlannedIds(IdGenerator):
    """The ids that are planned for the next span, otherwise random ones."""

    def __init__(self) -> None:
        self.planned: SpanContext | None = None
        self._random = RandomIdGenerator()

    def generate_trace_id(self) -> int:
        return self.planned.trace_id if self.planned else self._random.generate_trace_id()

    def generate_span_id(self) -> int:
        return self.planned.span_id if self.planned else self._random.generate_span_id()


class Sender:
    """Sends spans from a thread of its own; what it cannot send is dropped. For one thread."""

    def __init__(self, service: str, environment: Mapping[str, str] = os.environ) -> None:
        self._ids = _PlannedIds()
        # What is not sampled does not come here: the decision is in the traceparent.
        self._provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=Resource.create(_service(service, environment)),
            id_generator=self._ids,
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("modelexport")

    def send(self, spans: Iterable[Span]) -> None:
        """Put spans, and those below them, into the queue; never waits."""
        for span in spans:
            parent = span.parent
            below = _remote(parent) if parent is not None else Context()
            self._send(span, below)

    def close(self, seconds: float) -> bool:
        """Send what is in the queue, for a limited time; return whether it was enough."""
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(seconds)
        return not closing.is_alive()

    def _send(self, span: Span, below: Context) -> None:
        self._ids.planned = span.context
        made = self._tracer.start_span(
            span.name,
            context=below,
            kind=SpanKind.INTERNAL,
            attributes=dict(span.attributes),
            start_time=int(span.start * _NANOSECONDS),
        )
        self._ids.planned = None
        if span.error:
            made.set_status(Status(StatusCode.ERROR, span.error))
        for child in span.children:
            self._send(child, set_span_in_context(made, Context()))
        made.end(int(max(span.start, span.end) * _NANOSECONDS))


def _remote(context: SpanContext) -> Context:
    flags = TraceFlags(TraceFlags.SAMPLED)
    found = SdkContext(context.trace_id, context.span_id, is_remote=True, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(found), Context())


def _service(service: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the service's name, unless the variables of the specification have one."""
    stated = "service.name=" in environment.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return {} if stated or environment.get("OTEL_SERVICE_NAME") else {"service.name": service}
