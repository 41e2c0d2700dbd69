"""A proxy in front of the S3 server that answers itself, or slowly, as a test tells it to."""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from urllib.parse import urlsplit

SLOW_DOWN = (
    b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
)


XML = [("Content-Type", "application/xml")]


def answer_of(code: str) -> bytes:
    """The body of an answer with an error code of S3."""
    return f"<Error><Code>{code}</Code><Message>a fault</Message></Error>".encode()


@dataclass
class Throttle:
    """Whether a request is turned away, and how many were."""

    endpoint: str = ""
    turns_away: Callable[[str, str], bool] = lambda _method, _path: False
    """Called with the method and the path of every request."""
    status: int = 503
    answer: bytes = SLOW_DOWN
    """What it answers instead of the server."""
    drips: Callable[[str, str], bool] = lambda _method, _path: False
    """Which content it passes on byte by byte, ten in a second."""
    dripped: list[str] = field(default_factory=list)
    turned_away: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    copied: list[str] = field(default_factory=list)
    """The ranges of other objects that the server was told to copy, of those that passed."""
    sent_bytes: int = 0
    """Of the bodies that passed."""
    on_answer: Callable[[str, str], None] = lambda _method, _path: None
    """Called when the server has answered, before the client has the answer."""


def _is_passed_on(header: tuple[str, str]) -> bool:
    return header[0].lower() not in {"connection", "transfer-encoding"}


def _send(content: bytes, to: BufferedIOBase) -> None:
    to.write(content)


def _drip(content: bytes, to: BufferedIOBase) -> None:
    with contextlib.suppress(OSError):
        for position in range(len(content)):
            to.write(content[position : position + 1])
            to.flush()
            time.sleep(0.1)


class _Quiet(BaseHTTPRequestHandler):
    """Says nothing, neither of requests nor of clients that were killed."""

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            super().handle()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def throttling(upstream: str) -> Iterator[Throttle]:
    """Yield a proxy to an S3 server."""
    throttle = Throttle()
    target = urlsplit(upstream).netloc

    class Handler(_Quiet):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if throttle.turns_away(self.command, self.path):
                throttle.turned_away.append(f"{self.command} {self.path}")
                self._answer(throttle.status, XML, throttle.answer)
                return
            throttle.passed.append(f"{self.command} {self.path}")
            if "x-amz-copy-source-range" in self.headers:
                throttle.copied.append(self.headers["x-amz-copy-source-range"])
            throttle.sent_bytes += len(body)
            connection = http.client.HTTPConnection(target, timeout=30)
            connection.putrequest(
                self.command, self.path, skip_host=True, skip_accept_encoding=True
            )
            for name, value in self.headers.items():
                connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            content = answer.read()
            throttle.on_answer(self.command, self.path)
            self._answer(answer.status, answer.getheaders(), content)
            connection.close()

        def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
            self.send_response_only(status)
            told = {name.lower() for name, _ in headers}
            for name, value in filter(_is_passed_on, headers):
                self.send_header(name, value)
            if "content-length" not in told:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "HEAD":
                return
            drips = throttle.drips(self.command, self.path)
            self.close_connection |= drips
            if drips:
                throttle.dripped.append(f"{self.command} {self.path}")
            (_drip if drips else _send)(content, self.wfile)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _handle  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    throttle.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield throttle
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
