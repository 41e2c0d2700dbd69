"""Spans reach a receiver by OTLP over HTTP; one that does not answer costs a limited time."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest

from bed.processes import free_port
from modelexport_api.otlp import Sender
from modelexport_api.tracing import Span, context_of_export
from otlp_receiver import receiving

ROOT = context_of_export("uid-1")


def test_spans_have_the_planned_ids_and_their_times(monkeypatch: pytest.MonkeyPatch) -> None:
    child = Span("fetch", 110.0, 120.5, None, attributes={"modelexport.stage": "Fetch"})
    with receiving() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret")
        sender = Sender("a-service")
        sender.send([Span("root", 100.0, 200.0, None, ROOT, error="OutOfMemory")])
        sender.send([Span("pod", 105.0, 199.0, ROOT, children=(child,))])
        assert sender.close(10)
    root, pod, fetch = (receiver.named(name)[0] for name in ("root", "pod", "fetch"))
    assert (int(root.trace_id, 16), int(root.span_id, 16)) == (ROOT.trace_id, ROOT.span_id)
    assert (root.parent_id, root.error) == ("", "OutOfMemory")
    assert {span.trace_id for span in receiver.spans} == {root.trace_id}
    assert (pod.parent_id, fetch.parent_id) == (root.span_id, pod.span_id)
    assert len({root.span_id, pod.span_id, fetch.span_id}) == 3
    assert (fetch.start, fetch.end, fetch.error) == (110.0, 120.5, "")
    assert fetch.attributes == {"modelexport.stage": "Fetch"}
    assert fetch.service == "a-service"
    assert receiver.headers[0]["api-key"] == "secret"
    assert not any(b"secret" in body for body in receiver.bodies)


def test_the_service_name_of_the_variables_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "theirs")
        sender = Sender("ours")
        sender.send([Span("root", 1.0, 2.0, None, ROOT)])
        assert sender.close(10)
    assert receiver.spans[0].service == "theirs"


def test_a_collector_that_does_not_answer_costs_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv(
            "OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}"
        )
        sender = Sender("ours")
        begun = time.monotonic()
        sender.send(Span(f"span-{number}", 1.0, 2.0, ROOT) for number in range(5_000))
        assert time.monotonic() - begun < 20, "a full queue drops spans and does not wait"
        begun = time.monotonic()
        assert not sender.close(0.5)
        assert time.monotonic() - begun < 5


def test_a_collector_that_is_down_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    sender = Sender("ours")
    sender.send([Span("root", 1.0, 2.0, None, ROOT)])
    sender.close(0.5)


@pytest.mark.parametrize("module", ["modelexport_operator.app", "modelexport_exporter.pod"])
def test_nothing_is_imported_where_traces_are_off(module: str) -> None:
    asked = (
        f"import sys, {module}; from modelexport_operator.settings import TraceSettings; "
        "from modelexport_operator.traces import Traces; "
        "from modelexport_exporter.pod_trace import find_parent; "
        "Traces(TraceSettings(), {'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://x'}); "
        "Traces(TraceSettings(enabled=True), {}); "
        "assert find_parent({'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://x'}) is None; "
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
