"""An OTLP receiver over HTTP: keeps the spans that it gets, as the protocol defines them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True)
class Received:
    """One span."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    start: float
    end: float
    attributes: dict[str, str]
    error: str
    service: str


@dataclass
class Receiver:
    """What was received, and with which headers."""

    url: str = ""
    spans: list[Received] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def named(self, name: str) -> list[Received]:
        return [span for span in self.spans if span.name == name]

    def wait_for(self, name: str, seconds: float = 30.0) -> Received:
        deadline = time.monotonic() + seconds
        while not (found := self.named(name)):
            assert time.monotonic() < deadline, f"no span {name}: {self.spans}"
            time.sleep(0.05)
        return found[0]

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        assert path == "/v1/traces"
        self.headers.append(headers)
        self.bodies.append(body)
        for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            about = {
                entry.key: entry.value.string_value for entry in of_resource.resource.attributes
            }
            for of_scope in of_resource.scope_spans:
                for span in of_scope.spans:
                    self.spans.append(
                        Received(
                            span.name,
                            span.trace_id.hex(),
                            span.span_id.hex(),
                            span.parent_span_id.hex(),
                            span.start_time_unix_nano / 1e9,
                            span.end_time_unix_nano / 1e9,
                            {entry.key: entry.value.string_value for entry in span.attributes},
                            span.status.message
                            if span.status.code == span.status.STATUS_CODE_ERROR
                            else "",
                            about["service.name"],
                        )
                    )


@contextlib.contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver on the loopback while the block runs."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.take(self.path, dict(self.headers), body)
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.end_headers()
            self.wfile.write(ExportTraceServiceResponse().SerializeToString())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        receiver.url = f"http://127.0.0.1:{server.server_port}"
        yield receiver
        server.shutdown()
