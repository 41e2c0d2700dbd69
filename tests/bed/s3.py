"""An S3 server for tests: versitygw over a directory.

It knows versions, conditional writes, checksums, ranges and multipart uploads, and refuses wrong
keys.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from bed import golang, processes
from bed.runs import Run

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_REGION = "us-east-1"


@dataclass(frozen=True)
class S3Server:
    """Where the server is and the keys that it takes."""

    endpoint: str
    access_key: str
    secret_key: str
    region: str = _REGION

    def client(self) -> S3Client:
        """A boto3 client with the server's own keys, whatever the environment says."""
        client: S3Client = boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            region_name=self.region,
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                retries={"max_attempts": 2},
            ),
        )
        return client

    def environment(self) -> dict[str, str]:
        """The variables that point any AWS SDK at this server."""
        return {
            "AWS_ENDPOINT_URL_S3": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
        }

    def bucket(self, prefix: str = "test", *, versioned: bool = False) -> str:
        """Create a bucket of a fresh name."""
        name = f"{prefix}-{secrets.token_hex(5)}"
        client = self.client()
        client.create_bucket(Bucket=name)
        if versioned:
            client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        return name

    def delete_bucket(self, name: str) -> None:
        """Delete a bucket with everything in it: uploads in progress, objects, their versions."""
        client = self.client()
        for uploads in client.get_paginator("list_multipart_uploads").paginate(Bucket=name):
            for upload in uploads.get("Uploads", []):
                client.abort_multipart_upload(
                    Bucket=name, Key=upload["Key"], UploadId=upload["UploadId"]
                )
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=name):
            for found in page.get("Contents", []):
                client.delete_object(Bucket=name, Key=found["Key"])
        if client.get_bucket_versioning(Bucket=name).get("Status"):
            for versions in client.get_paginator("list_object_versions").paginate(Bucket=name):
                for old in [*versions.get("Versions", []), *versions.get("DeleteMarkers", [])]:
                    client.delete_object(Bucket=name, Key=old["Key"], VersionId=old["VersionId"])
        client.delete_bucket(Bucket=name)


def start(run: Run, address: str = "127.0.0.1") -> S3Server:
    """Serve S3 on ADDRESS for as long as RUN lasts; pods reach it at the bridge's address."""
    port = processes.free_port()
    server = S3Server(
        endpoint=f"http://{address}:{port}",
        access_key=secrets.token_hex(8),
        secret_key=secrets.token_hex(16),
    )
    command: list[str | Path] = [
        golang.VERSITYGW.binary("versitygw"),
        *("--port", f"{address}:{port}", "--region", server.region, "--health", "/health"),
        "posix",
        *("--versioning-dir", run.subdirectory("s3-versions"), run.subdirectory("s3")),
    ]
    # The keys go through the environment: an argument would show in the process list.
    keys = {"ROOT_ACCESS_KEY": server.access_key, "ROOT_SECRET_KEY": server.secret_key}
    child = run.spawn("versitygw", command, keys)
    processes.wait_until(
        lambda: processes.answers(f"{server.endpoint}/health"),
        "versitygw answers",
        children=[child],
        seconds=20,
    )
    return server
