"""A proxy in front of an S3 server, in threads of its own, that does what it is set to.

It works on bytes and sockets, so that it can break off in the middle of a header.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from chaos.faults.operations import Request

_OF_CONNECTION = {"connection", "transfer-encoding", "content-length", "keep-alive"}


@dataclass(frozen=True)
class Answer:
    """An answer as it is sent: the length of the content is stated unless `headers` has one."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes = b""

    def header(self, name: str) -> str | None:
        """Return the value of a header."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def without(self, name: str) -> Answer:
        """Return the answer without a header."""
        kept = tuple(entry for entry in self.headers if entry[0].lower() != name.lower())
        return Answer(self.status, kept, self.content)

    def head(self) -> bytes:
        """Return the status line and the headers as they are sent."""
        lines = [f"HTTP/1.1 {self.status} {http.client.responses.get(self.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if self.header("Content-Length") is None:
            lines.append(f"Content-Length: {len(self.content)}")
        return ("\r\n".join([*lines, "", ""])).encode("latin-1")


@dataclass
class Exchange:
    """One request, and the ways to answer it."""

    request: Request
    upstream: str
    connection: socket.socket
    stopping: threading.Event
    stored: Callable[[], bytes]
    """Reads the whole object from the server."""
    keeps_alive: bool = True

    def forward(self, request: Request | None = None) -> Answer:
        """Return what the server answers."""
        sent = request or self.request
        server = http.client.HTTPConnection(self.upstream, timeout=30)
        try:
            server.putrequest(sent.method, sent.path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.headers.items():
                server.putheader(name, value)
            server.endheaders(sent.body or None)
            answer = server.getresponse()
            content = answer.read()
            headers = [
                entry for entry in answer.getheaders() if entry[0].lower() not in _OF_CONNECTION
            ]
            if sent.method == "HEAD" and (length := answer.getheader("Content-Length")):
                headers.append(("Content-Length", length))
            return Answer(answer.status, tuple(headers), content)
        finally:
            server.close()

    def send(self, answer: Answer) -> None:
        """Answer."""
        self.raw(answer.head() + (b"" if self.request.method == "HEAD" else answer.content))

    def raw(self, content: bytes) -> None:
        """Send bytes."""
        with contextlib.suppress(OSError):
            self.connection.sendall(content)

    def close(self) -> None:
        """Close the connection after what was sent."""
        self.keeps_alive = False

    def reset(self) -> None:
        """Close the connection with a RST: what is on its way is lost."""
        self.keeps_alive = False
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def wait(self, seconds: float) -> None:
        """Do nothing for a while, or until the proxy ends."""
        self.stopping.wait(seconds)


def passed_on(exchange: Exchange) -> None:
    """Do what a proxy without a fault does."""
    exchange.send(exchange.forward())


Action = Callable[[Exchange], None]
"""What is done to a request."""


@dataclass
class Proxy:
    """A running proxy, and what it does."""

    endpoint: str
    choose: Callable[[Request], Action] = lambda _request: passed_on
    """Called with every request, one at a time."""
    read: Callable[[str], bytes] = lambda _path: b""
    """Reads `/bucket/key` from the server itself."""
    seen: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def action_for(self, request: Request) -> Action:
        """Return what to do, and note the request."""
        with self.lock:
            self.seen.append(Request(request.method, request.path, request.headers, b""))
            return self.choose(request)


@contextlib.contextmanager
def proxying(upstream: str) -> Iterator[Proxy]:
    """Yield a proxy to an S3 server, for as long as the block lasts."""
    proxy, stopping = Proxy(""), threading.Event()
    target = urlsplit(upstream).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            request = Request(self.command, self.path, headers, body)
            exchange = Exchange(
                request, target, self.connection, stopping, lambda: proxy.read(request.key)
            )
            proxy.action_for(request)(exchange)
            self.close_connection = not exchange.keeps_alive

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _handle  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def finish(self) -> None:
            with contextlib.suppress(OSError):
                super().finish()

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that went away is no error of the proxy."""

    server = Server(("127.0.0.1", 0), Handler)
    proxy.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
