"""Export runs over a store: the whole pipeline in this process, with workers that need no torch.

The artifact of a run is made of the checkpoint's bytes, so that a reader knows what is correct.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from bed.s3 import S3Server
from killed_run import SETTINGS
from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.publish import clean_up
from modelexport_exporter.storage import s3, s3_client, s3_download, s3_read, s3_stream

MIB = 1 << 20
INDEX = "model.safetensors.index.json"
SHARDS = {"a.safetensors": 5 * MIB + 1, "b.safetensors": 1000}
READ_SECONDS = 0.5
"""The timeout of a socket in runs with a fault."""
PATIENT_SECONDS = 30.0
"""And in runs without one: a busy machine is no fault."""


@dataclass
class Clock:
    """What the waits of the product would have taken; they are a hundredth here."""

    saved: float = 0.0
    begun: float = field(default_factory=time.monotonic)

    def sleep(self, seconds: float) -> None:
        """Wait a hundredth of the time."""
        self.saved += seconds * 0.99
        time.sleep(seconds * 0.01)

    @property
    def seconds(self) -> float:
        """Return what the run would have taken."""
        return time.monotonic() - self.begun + self.saved


@contextlib.contextmanager
def short_waits(clock: Clock, read_seconds: float) -> Iterator[None]:
    """Shorten timeouts and waits between attempts, and make parts so small that there are some."""
    import botocore.endpoint

    timing = SimpleNamespace(sleep=clock.sleep, time=time.time, monotonic=time.monotonic)
    settings: list[tuple[Any, str, Any]] = [
        (botocore.endpoint, "time", timing),
        (s3_download, "time", timing),
        (s3_read, "time", timing),
        (s3_client, "READ_SECONDS", read_seconds),
        (s3_stream, "WINDOW_SECONDS", read_seconds),
        (s3_download, "PART_BYTES", 2 * MIB),
        (s3, "UPLOAD_PART_BYTES", 5 * MIB),
        (clean_up, "GRACE", timedelta(0)),
    ]
    with contextlib.ExitStack() as held:
        for where, name, value in settings:
            held.enter_context(patch.object(where, name, value))
        yield


@dataclass
class Bench:
    """A bucket with a destination, whose artifact each case replaces by another one."""

    server: S3Server
    bucket: str
    work_dir: Path
    log: io.StringIO = field(default_factory=io.StringIO)

    def __post_init__(self) -> None:
        self.client = self.server.client()

    def put_checkpoint(self, seed: int) -> bytes:
        """Store another checkpoint of two shards and an index; return what its artifact holds."""
        draw = random.Random(seed)
        shards = {name: draw.randbytes(size) for name, size in SHARDS.items()}
        weights = {name.partition(".")[0]: name for name in SHARDS}
        index = json.dumps({"weight_map": weights, "metadata": {"seed": seed}}).encode()
        for name, content in {**shards, INDEX: index}.items():
            self.client.put_object(Bucket=self.bucket, Key=f"source/{name}", Body=content)
        files = {**shards, INDEX: index}
        return b"".join(files[name] for name in sorted(files))

    def run(self, endpoint: str, read_seconds: float = READ_SECONDS) -> tuple[PodResult, Clock]:
        """Export once, through an endpoint; return the result and the time that it takes."""
        spec = {
            "source": {"uri": f"s3://{self.bucket}/source/"},
            "storage": {"endpoint": endpoint},
            "model": {"factory": "small:build"},
            "inputs": [{"name": "x", "shape": [4]}],
            "verification": {"benchmark": False},
            "destination": {"uri": f"s3://{self.bucket}/out/"},
        }
        head = {"apiVersion": "modelexport.dev/v1alpha1", "kind": "ModelExport"}
        resource = ModelExport.model_validate({**head, "metadata": {"name": "x"}, "spec": spec})
        settings = Settings(self.work_dir, **SETTINGS, preload=("small_workers",))
        clock = Clock()
        self.log = io.StringIO()
        s3_client._made.cache_clear()
        with short_waits(clock, read_seconds):
            result = run(resource, settings, JsonLog(self.log))
        return result, clock

    def stored(self, path: str) -> bytes:
        """Return an object by `/bucket/key`."""
        bucket, _, key = path.lstrip("/").partition("/")
        return self.client.get_object(Bucket=bucket, Key=key)["Body"].read()

    def published(self) -> bytes | None:
        """Return what a reader of the manifest has; None without one. AssertionError: not whole."""
        manifest = self._read("manifest.json")
        if manifest is None:
            return None
        document = json.loads(manifest)
        digests = {file["name"]: file["sha256"] for file in document["artifact"]["files"]}
        contents = {}
        for name, content in document["contents"].items():
            contents[name] = self._read(content["path"])
            found = contents[name]
            assert found is not None, f"the manifest names {content['path']}, which is not there"
            assert hashlib.sha256(found).hexdigest() == digests[name], f"{name} has other bytes"
        model = contents["model.onnx"]
        assert model is not None
        named = json.loads(model[: model.index(b"}") + 1])["data"]
        data = next(found for name, found in contents.items() if name.endswith(named))
        assert data is not None
        return data

    def plain_names_agree(self) -> bool:
        """Return whether `model.onnx` is the one of the manifest."""
        document = json.loads(self._read("manifest.json") or b"{}")
        digests = {file["name"]: file["sha256"] for file in document["artifact"]["files"]}
        found = self._read("model.onnx")
        return found is not None and hashlib.sha256(found).hexdigest() == digests["model.onnx"]

    def left(self) -> list[str]:
        """Return what no manifest names: uploads in progress, staged files."""
        uploads = self.client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", [])
        listed = self.client.list_objects_v2(Bucket=self.bucket, Prefix="out/.staging/")
        staged = [found["Key"] for found in listed.get("Contents", [])]
        return [upload["Key"] for upload in uploads] + staged

    def _read(self, name: str) -> bytes | None:
        try:
            answer = self.client.get_object(Bucket=self.bucket, Key=f"out/{name}")
        except self.client.exceptions.NoSuchKey:
            return None
        return answer["Body"].read()
