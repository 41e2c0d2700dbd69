"""Traces of OpenTelemetry: one for each ModelExport, which operator and pods write to.

Its ids are a function of the ModelExport's uid: so a restarted operator goes on with the same
trace, and the Job's manifest stays a function of the resource. `otlp` sends the spans.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

TRACEPARENT_ENV = "TRACEPARENT"
"""Environment variable with the W3C trace context, as OpenTelemetry specifies for processes."""

SETTINGS_PREFIX = "OTEL_EXPORTER_OTLP_"
"""Variables of the exporter, whose headers and keys are secrets."""

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_ALL = 1 << 64
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_SAMPLED = 1


@dataclass(frozen=True)
class SpanContext:
    """The ids of a span, and whether its trace is recorded."""

    trace_id: int
    span_id: int
    sampled: bool = True

    @property
    def traceparent(self) -> str:
        """Return the value of the header or the variable."""
        return f"00-{self.trace_id:032x}-{self.span_id:016x}-{int(self.sampled):02x}"


@dataclass(frozen=True)
class Span:
    """A part of an export that has ended; times are seconds since 1970.

    Attributes are names, phases, reasons and numbers: never a message, which may quote a URI or
    what the model's code printed.
    """

    name: str
    start: float
    end: float
    parent: SpanContext | None
    context: SpanContext | None = None
    """Its ids, if they are planned; otherwise they are random, in the trace of the parent."""
    attributes: Mapping[str, str | int | float] = field(default_factory=dict)
    error: str = ""
    """The reason of a failure."""
    children: tuple[Span, ...] = ()
    """Their `parent` is not used."""


def context_of_export(uid: str, ratio: float = 1.0) -> SpanContext:
    """Return the context of a ModelExport's own span, which all others are below.

    `ratio`: which part of all traces is recorded, as OpenTelemetry's TraceIdRatioBased decides it.
    """
    trace_id = int.from_bytes(hashlib.sha256(f"trace:{uid}".encode()).digest()[:16])
    span_id = int.from_bytes(hashlib.sha256(f"span:{uid}".encode()).digest()[:8])
    sampled = trace_id % _ALL < round(ratio * _ALL)
    return SpanContext(trace_id or 1, span_id or 1, sampled)


def parse_traceparent(text: str) -> SpanContext | None:
    """Return the context in a traceparent; None if it is not valid."""
    found = _TRACEPARENT.fullmatch(text.strip().lower())
    if found is None or text[:2].lower() == "ff" or (found[4] and text.startswith("00")):
        return None
    trace_id, span_id = int(found[1], 16), int(found[2], 16)
    if not trace_id or not span_id:
        return None
    return SpanContext(trace_id, span_id, bool(int(found[3], 16) & _SAMPLED))


def is_enabled(environment: Mapping[str, str]) -> bool:
    """Return whether spans are to be sent: an endpoint is set, and nothing turns traces off."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if environment.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() not in ("", "otlp"):
        return False
    return any(environment.get(name, "").strip() for name in _ENDPOINTS)
