"""A store whose certificate a company's own authority signed: AWS_CA_BUNDLE names its file."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bed.certificates import Authority
from modelexport_api.source import Storage
from modelexport_exporter.storage.s3_client import client_for

_NO_BUCKETS = b"<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>"


class _Store(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(_NO_BUCKETS)))
        self.end_headers()
        self.wfile.write(_NO_BUCKETS)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextmanager
def served(authority: Authority) -> Iterator[str]:
    pair = authority.issue("store", user="store", hosts=["127.0.0.1"])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Store)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def test_the_store_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority.create(tmp_path)
    monkeypatch.setenv("AWS_CA_BUNDLE", str(authority.certificate))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with served(authority) as endpoint:
        found = client_for(Storage(endpoint=endpoint, region="eu")).list_buckets()
    assert found["Buckets"] == []
