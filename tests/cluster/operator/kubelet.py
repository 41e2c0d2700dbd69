"""Parts of a kubelet: the logs of pods, which the API server asks for, and what becomes of pods."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from bed.control_plane import ControlPlane
from cluster.operator.world import NODE, Object, World

_ADDRESS = "127.0.0.1"


class LogServer:
    """Serves logs that tests set, as the node that all pods are bound to."""

    def __init__(self, plane: ControlPlane) -> None:
        self.lines: dict[tuple[str, str], str] = {}
        pair = plane.authority.issue("kubelet", user="kubelet", hosts=[_ADDRESS])
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(pair.certificate, pair.key)
        self._server = ThreadingHTTPServer((_ADDRESS, 0), _handler(self.lines))
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._announce(plane)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def say(self, namespace: str, pod: str, text: str) -> None:
        """Set the end of a pod's log."""
        self.lines[namespace, pod] = text

    def _announce(self, plane: ControlPlane) -> None:
        status = {
            "addresses": [{"type": "InternalIP", "address": _ADDRESS}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._server.server_port}},
        }
        patch = ("--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
        plane.kubectl("patch", "node", NODE["metadata"]["name"], *patch)


def _handler(lines: dict[tuple[str, str], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer /containerLogs/NAMESPACE/POD/CONTAINER."""
            _, _, namespace, pod, _ = urlsplit(self.path).path.split("/")
            text = lines.get((namespace, pod), "").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return Handler


@contextmanager
def advancing(world: World, advance: Callable[[Object], None], clients: int = 1) -> Iterator[None]:
    """Call `advance` for each pod of the namespace five times a second, in `clients` threads."""
    stop = threading.Event()

    def serve() -> None:
        with ThreadPoolExecutor(clients) as pool:
            while not stop.wait(0.2):
                list(pool.map(advance, world.all_pods()))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
