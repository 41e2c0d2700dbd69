"""Bytes that change between the store and this machine are no checkpoint: a real S3 server, behind
a proxy that flips a bit."""

from __future__ import annotations

import http.client
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config

from bed.s3 import S3Server
from killed_run import SETTINGS
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Storage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.storage import s3_download
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.store import Role

MIB = 1 << 20
CONTENT = bytes(range(256)) * 4096 * 11
"""11 MiB."""


@dataclass
class Damage:
    """How often the proxy flips a bit in what it passes on, and how often it did."""

    times: int = 0
    flipped: int = 0
    key: str = ""
    """What the path must end with."""


@pytest.fixture
def damage() -> Damage:
    return Damage()


@pytest.fixture
def proxy(s3: S3Server, damage: Damage) -> Iterator[str]:
    """The endpoint of a proxy before the S3 server."""
    upstream = urlsplit(s3.endpoint)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            connection = http.client.HTTPConnection(upstream.hostname or "", upstream.port)
            connection.putrequest(self.command, self.path, skip_host=True)
            for name, value in self.headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            body = bytearray(answer.read())
            wanted = urlsplit(self.path).path.endswith(damage.key)
            if self.command == "GET" and wanted and damage.flipped < damage.times and body:
                body[len(body) // 2] ^= 4
                damage.flipped += 1
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in {"transfer-encoding", "connection"}:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            connection.close()

        do_GET = do_HEAD = _pass_on  # noqa: N815 - the names of http.server

        def log_message(self, *_arguments: Any) -> None:  # noqa: ANN401
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


Put = Callable[[S3Server, str], None]


def _at_once(algorithm: str) -> Put:
    def put(server: S3Server, bucket: str) -> None:
        client: Any = server.client()
        client.put_object(Bucket=bucket, Key="model.pt", Body=CONTENT, ChecksumAlgorithm=algorithm)

    return put


def _without_checksum(server: S3Server) -> Any:  # noqa: ANN401
    return boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
        region_name=server.region,
        config=Config(
            s3={"addressing_style": "path"},
            request_checksum_calculation="when_required",
        ),
    )


def _etag_only(server: S3Server, bucket: str) -> None:
    _without_checksum(server).put_object(Bucket=bucket, Key="model.pt", Body=CONTENT)


def _parts(sizes: tuple[int, ...], algorithm: str = "") -> Put:
    def put(server: S3Server, bucket: str) -> None:
        client: Any = server.client() if algorithm else _without_checksum(server)
        named = {"ChecksumAlgorithm": algorithm} if algorithm else {}
        upload = client.create_multipart_upload(Bucket=bucket, Key="model.pt", **named)["UploadId"]
        parts, begin = [], 0
        for number, size in enumerate(sizes, start=1):
            answer = client.upload_part(
                Bucket=bucket,
                Key="model.pt",
                UploadId=upload,
                PartNumber=number,
                Body=CONTENT[begin : begin + size],
                **named,
            )
            checksums = {name: answer[name] for name in answer if name.startswith("Checksum")}
            parts.append({"PartNumber": number, "ETag": answer["ETag"], **checksums})
            begin += size
        client.complete_multipart_upload(
            Bucket=bucket, Key="model.pt", UploadId=upload, MultipartUpload={"Parts": parts}
        )

    return put


PUTS = {
    "CRC64NVME": _at_once("CRC64NVME"),
    "CRC32C": _at_once("CRC32C"),
    "CRC32": _at_once("CRC32"),
    "SHA256": _at_once("SHA256"),
    "SHA1": _at_once("SHA1"),
    "ETag": _etag_only,
    "parts, CRC32": _parts((5 * MIB, 5 * MIB, MIB), "CRC32"),
    "parts, ETag": _parts((5 * MIB, 5 * MIB, MIB)),
    "a larger last part, ETag": _parts((5 * MIB, 6 * MIB)),
    "a larger last part, CRC32": _parts((5 * MIB, 6 * MIB), "CRC32"),
}


@pytest.fixture(params=[4 * MIB, 64 * MIB], ids=["ranges", "whole"])
def download(  # noqa: PLR0917 - fixtures
    request: pytest.FixtureRequest,
    s3: S3Server,
    bucket: str,
    proxy: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Callable[[], Path]:
    """Downloads the object through the proxy."""
    monkeypatch.setattr(s3_download, "PART_BYTES", request.param)
    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)

    def downloaded() -> Path:
        where = locate(f"s3://{bucket}/model.pt", Storage(endpoint=proxy), Role.SOURCE)
        found = where.store.stat(where.key)
        assert found is not None
        where.store.download(found, tmp_path / "model.pt", lambda _count: None)
        return tmp_path / "model.pt"

    return downloaded


@pytest.mark.parametrize("put", PUTS.values(), ids=PUTS)
def test_right_bytes_are_taken(
    put: Put, download: Callable[[], Path], s3: S3Server, bucket: str
) -> None:
    put(s3, bucket)
    assert download().read_bytes() == CONTENT


@pytest.mark.parametrize("put", PUTS.values(), ids=PUTS)
def test_a_bit_that_flipped_on_the_way_is_downloaded_again(
    put: Put, download: Callable[[], Path], s3: S3Server, bucket: str, damage: Damage
) -> None:
    put(s3, bucket)
    damage.times = 1
    assert download().read_bytes() == CONTENT
    assert damage.flipped == 1


@pytest.mark.parametrize("put", PUTS.values(), ids=PUTS)
def test_bytes_that_change_each_time_are_refused(
    put: Put, download: Callable[[], Path], s3: S3Server, bucket: str, damage: Damage
) -> None:
    put(s3, bucket)
    damage.times = 1000
    with pytest.raises(ExportFailure) as caught:
        download()
    assert caught.value.reason is Reason.DIGEST_MISMATCH
    assert "model.pt" in caught.value.message


def test_an_export_of_bytes_that_change_publishes_nothing(  # noqa: PLR0917 - fixtures
    s3: S3Server,
    bucket: str,
    proxy: str,
    damage: Damage,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Through the whole pipeline; all that a proxy passes on of the checkpoint is damaged."""
    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    _at_once("CRC64NVME")(s3, bucket)
    damage.times, damage.key = 1000, "model.pt"
    out = tmp_path / "out"
    spec = {
        "source": {"uri": f"s3://{bucket}/model.pt"},
        "storage": {"endpoint": proxy},
        "model": {"factory": "small:build"},
        "inputs": [{"name": "x", "shape": [4]}],
        "destination": {"uri": f"{out.as_uri()}/"},
    }
    head = {"apiVersion": "modelexport.dev/v1alpha1", "kind": "ModelExport"}
    resource = ModelExport.model_validate({**head, "metadata": {"name": "x"}, "spec": spec})
    settings = Settings(tmp_path / "work", **SETTINGS, preload=("small_workers",))
    failure = run(resource, settings, JsonLog(sys.stderr)).failure
    assert failure is not None
    assert failure.reason is Reason.DIGEST_MISMATCH
    assert damage.flipped
    assert not (out / "model.onnx").exists()
    damage.times = 0
    assert run(resource, settings, JsonLog(sys.stderr)).failure is None, "nothing else is wrong"
