"""boto3's client of an S3 server: one for all requests with the same settings and credentials."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from modelexport_api.spec import AddressingStyle, Storage
from modelexport_exporter.core.environment import with_credentials
from modelexport_exporter.storage.s3_retries import ATTEMPTS, seconds_before_repeat
from modelexport_exporter.storage.s3_upload import THREADS

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0
"""Without a byte from the server."""


def client_for(storage: Storage) -> S3Client:
    """Return a client, which threads may share: making one takes as long as ten requests."""
    with with_credentials() as found:
        return _made(storage, found)


@lru_cache(maxsize=4)
def _made(storage: Storage, environment: tuple[tuple[str, str], ...]) -> S3Client:
    """Return a new client. `environment`: what boto3 reads; other credentials, another client."""
    import boto3
    from botocore.config import Config

    del environment
    config = Config(
        s3={"addressing_style": _addressing(storage)},
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        max_pool_connections=THREADS * 4,
        tcp_keepalive=True,
    )
    client: S3Client = boto3.session.Session().client(
        "s3", endpoint_url=storage.endpoint, region_name=storage.region, config=config
    )
    client.meta.events.register_first("needs-retry.s3", seconds_before_repeat)  # type: ignore[arg-type]
    return client


def _addressing(storage: Storage) -> Literal["auto", "virtual", "path"]:
    if storage.addressing_style is AddressingStyle.AUTO:
        return "path" if storage.endpoint else "auto"
    return "path" if storage.addressing_style is AddressingStyle.PATH else "virtual"
