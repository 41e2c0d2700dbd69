"""Traces stop no export; what is sent is tested with a receiver in tests/cluster/operator."""

from __future__ import annotations

import logging

import pytest

from modelexport_operator.settings import TraceSettings
from modelexport_operator.traces import Traces


def test_an_invalid_variable_turns_traces_off_with_a_message(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    variables = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
        "OTEL_BSP_MAX_QUEUE_SIZE": "-1",
        "OTEL_EXPORTER_OTLP_HEADERS": "api-key=hidden",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with caplog.at_level(logging.WARNING):
        traces = Traces(TraceSettings(enabled=True), variables)
    assert "TracesUnavailable" in caplog.text
    assert "hidden" not in caplog.text
    traces.changed("uid")
    traces.reconciled("uid", None, "ok", 0.1)
    traces.close()
