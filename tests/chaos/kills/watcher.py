"""A reader of the bucket that never stops: each manifest must name one whole artifact."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from bed.s3 import S3Server
from modelexport_exporter.publish import manifest as manifests
from modelexport_exporter.publish.layout import is_content, is_ours
from modelexport_exporter.publish.manifest import MANIFEST_NAME, Manifest

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_PAUSE_SECONDS = 0.04


@dataclass(frozen=True)
class Seen:
    """A manifest in force."""

    etag: str
    manifest: Manifest


@dataclass
class Watcher:
    """Looks at destinations in a thread of its own, until the block ends."""

    server: S3Server
    bucket: str
    destinations: Iterable[str]
    looks: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __enter__(self) -> Watcher:
        self._client = self.server.client()
        self._last: dict[str, Seen] = {}
        self._whole: set[tuple[str, str]] = set()
        """Objects whose digest was compared: key and etag."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def in_force(self) -> dict[str, Seen]:
        """Return the manifests that are there now, by destination."""
        found = {
            where: read_manifest(self._client, self.bucket, where) for where in self.destinations
        }
        return {where: seen for where, seen in found.items() if seen is not None}

    def _watch(self) -> None:
        while not self._over.wait(_PAUSE_SECONDS):
            for where in self.destinations:
                try:
                    self._look(where)
                except Exception as error:  # noqa: BLE001 - a reader that cannot read is a finding
                    self.wrong.append(f"{where}: {error!r}")
            self.looks += 1

    def _look(self, where: str) -> None:
        before = read_manifest(self._client, self.bucket, where)
        etags = list_etags(self._client, self.bucket, where)
        if before is None:
            self._look_without_manifest(where, etags)
            return
        self._last[where] = before
        for file in before.manifest.artifact.files:
            content = before.manifest.contents[file.name]
            key = where + content.path
            if etags.get(key) != content.etag:
                self.wrong.append(f"{key} is not what the manifest names")
            elif (key, content.etag) not in self._whole:
                found = self._client.get_object(Bucket=self.bucket, Key=key)["Body"].read()
                if hashlib.sha256(found).hexdigest() != file.sha256:
                    self.wrong.append(f"{key} has another digest than the manifest says")
                self._whole.add((key, content.etag))

    def _look_without_manifest(self, where: str, etags: dict[str, str]) -> None:
        if where in self._last:
            self.lost.append(f"{where}: the manifest is gone")
        plain = [name for key in etags if is_plain(name := key.removeprefix(where))]
        if plain and read_manifest(self._client, self.bucket, where) is None:
            self.wrong.append(f"{where}: {', '.join(plain)} without a manifest")


def is_plain(name: str) -> bool:
    """Return whether readers who do not follow the manifest look at a name."""
    return is_ours(name) and not is_content(name)


def read_manifest(client: S3Client, bucket: str, where: str) -> Seen | None:
    """Return the manifest of a destination."""
    try:
        answer = client.get_object(Bucket=bucket, Key=where + MANIFEST_NAME)
    except ClientError as error:
        if error.response["Error"]["Code"] in {"NoSuchKey", "404"}:
            return None
        raise
    manifest = manifests.parse(answer["Body"].read())
    assert manifest is not None, "the manifest cannot be parsed"
    return Seen(answer["ETag"], manifest)


def list_etags(client: S3Client, bucket: str, prefix: str) -> dict[str, str]:
    """Return the etags of all objects below a prefix."""
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    return {item["Key"]: item["ETag"] for page in pages for item in page.get("Contents", [])}


def open_uploads(client: S3Client, bucket: str) -> list[str]:
    """Return the keys of multipart uploads that were neither completed nor aborted."""
    pages = client.get_paginator("list_multipart_uploads").paginate(Bucket=bucket)
    return [upload["Key"] for page in pages for upload in page.get("Uploads", [])]
