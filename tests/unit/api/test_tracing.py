"""The ids of a trace, and where traces are on."""

from __future__ import annotations

import pytest

from modelexport_api.tracing import (
    SpanContext,
    context_of_export,
    is_enabled,
    parse_traceparent,
)

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CONTEXT = SpanContext(int(TRACE, 16), int(SPAN, 16))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"00-{TRACE}-{SPAN}-01", CONTEXT),
        (f"00-{TRACE}-{SPAN}-03", CONTEXT),
        (f"00-{TRACE}-{SPAN}-00", SpanContext(CONTEXT.trace_id, CONTEXT.span_id, sampled=False)),
        (f"cc-{TRACE}-{SPAN}-01-what-comes-later", CONTEXT),
        (f"00-{TRACE}-{SPAN}-01-more", None),
        (f"ff-{TRACE}-{SPAN}-01", None),
        (f"00-{'0' * 32}-{SPAN}-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        (f"00-{TRACE[:-1]}-{SPAN}-01", None),
        ("", None),
    ],
)
def test_a_traceparent_as_w3c_defines_it(text: str, expected: SpanContext | None) -> None:
    assert parse_traceparent(text) == expected


def test_the_trace_is_a_function_of_the_uid() -> None:
    first = context_of_export("uid-1")
    assert first == context_of_export("uid-1")
    assert first.trace_id != context_of_export("uid-2").trace_id
    assert parse_traceparent(first.traceparent) == first
    assert len(first.traceparent) == 55


@pytest.mark.parametrize("ratio", [0.0, 0.25, 1.0])
def test_a_part_of_the_traces_is_sampled(ratio: float) -> None:
    sampled = sum(context_of_export(f"uid-{number}", ratio).sampled for number in range(4_000))
    assert sampled / 4_000 == pytest.approx(ratio, abs=0.03)


ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}


@pytest.mark.parametrize(
    ("environment", "enabled"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
        (ENDPOINT, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector/v1/traces"}, True),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "TRUE"}, False),
        ({**ENDPOINT, "OTEL_SDK_DISABLED": "false"}, True),
    ],
    ids=str,
)
def test_an_endpoint_turns_traces_on(environment: dict[str, str], enabled: bool) -> None:
    assert is_enabled(environment) is enabled
