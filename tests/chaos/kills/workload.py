"""What is exported: a small network alone, or several of its checkpoints as a batch."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bed.s3 import S3Server
from modelexport_api.pod import MANIFEST_ENV
from modelexport_api.resource import ModelExport, parse
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pod import INDEX_ENV, TERMINATION_LOG_ENV, WORK_DIR_ENV

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

CODE = b"""\
import torch


def build():
    layers = torch.nn.Linear(8, 600), torch.nn.ReLU(), torch.nn.Linear(600, 600)
    return torch.nn.Sequential(*layers, torch.nn.Linear(600, 4))
"""
"""Its file has 1.5 MB: it is uploaded in parts, of which a killed process leaves some."""


_TESTS = str(Path(__file__).parents[2])


@dataclass(frozen=True)
class Workload:
    """A program that exports, and what it exports."""

    module: str
    """Of the pod's process: `python -m`."""
    checkpoint: Callable[[int], bytes]
    code: bytes
    spec: Mapping[str, Any]
    entries: Mapping[str, Any] = field(default_factory=dict)
    """The workers of `Settings`, where they are not the product's."""


def checkpoint(number: int) -> bytes:
    """Return the weights of a network, each time the same."""
    import torch

    namespace: dict[str, Any] = {}
    exec(CODE, namespace)
    torch.manual_seed(number)
    content = io.BytesIO()
    torch.save(namespace["build"]().state_dict(), content)
    return content.getvalue()


REAL = Workload(
    "modelexport_exporter",
    checkpoint,
    CODE,
    {"inputs": [{"name": "x", "shape": ["batch", 8]}], "dims": {"batch": {"max": 16}}},
)
SMALL = Workload(
    "chaos.kills.small_pod",
    lambda number: bytes([number]) * 1_500_000,
    b"",
    {"inputs": [{"name": "x", "shape": [4]}]},
    {
        "export_entry": "chaos.kills.small_pod:export",
        "verify_entry": "chaos.kills.small_pod:verify",
        "preload": ("chaos.kills.small_pod",),
    },
)
"""Workers without torch: a run takes a second."""


@dataclass(frozen=True)
class Job:
    """One resource, with all that its pods need."""

    workload: Workload
    resource: ModelExport
    bucket: str
    sources: Mapping[str, str]
    """The digest of the checkpoint, by the prefix of its destination."""
    place: Path
    """Has the work directory, the temporary files and the termination message."""

    @property
    def is_batch(self) -> bool:
        return self.resource.spec.source.is_batch

    @property
    def work_dir(self) -> Path:
        return self.place / "work"

    @property
    def temporary(self) -> Path:
        return self.place / "tmp"

    @property
    def termination(self) -> Path:
        return self.place / "termination"

    @property
    def settings(self) -> Settings:
        return Settings(self.work_dir, **self.workload.entries)

    def environment(self, server: S3Server) -> dict[str, str]:
        """Return the variables of a pod's process."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {
            **own,
            "PYTHONPATH": os.pathsep.join(filter(None, (_TESTS, own.get("PYTHONPATH")))),
            **server.environment(),
            MANIFEST_ENV: self.resource.model_dump_json(by_alias=True, exclude_none=True),
            WORK_DIR_ENV: str(self.work_dir),
            TERMINATION_LOG_ENV: str(self.termination),
            INDEX_ENV: "0",
            "TMPDIR": str(self.temporary),
            "OMP_NUM_THREADS": "1",
        }


def make_job(  # noqa: PLR0917
    workload: Workload, client: S3Client, bucket: str, endpoint: str, place: Path, items: int
) -> Job:
    """Upload checkpoints and code; return the job that exports them. 0 items: no batch."""
    contents = {f"fold-{number}": workload.checkpoint(number) for number in range(max(items, 1))}
    client.put_object(Bucket=bucket, Key="code/net.py", Body=workload.code)
    root = f"s3://{bucket}"
    document = {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "small", "uid": "0000-1111"},
        "spec": {
            "source": {"uri": f"{root}/run/{'fold-*' if items else 'fold-0'}.pt"},
            "storage": {"endpoint": endpoint},
            "model": {"factory": "net:build", "code": {"uri": f"{root}/code/"}},
            "verification": {"benchmark": False},
            "destination": {"uri": f"{root}/onnx/{{stem}}/"},
            **workload.spec,
        },
    }
    for name in ("work", "tmp"):
        (place / name).mkdir(parents=True)
    digests = {f"onnx/{name}/": hashlib.sha256(text).hexdigest() for name, text in contents.items()}
    job = Job(workload, parse(document), bucket, digests, place)
    upload_checkpoints(job, client)
    return job


def upload_checkpoints(job: Job, client: S3Client, first: int = 0) -> None:
    """Write the checkpoints of these numbers to the source."""
    for number in range(len(job.sources)):
        content = job.workload.checkpoint(first + number)
        client.put_object(Bucket=job.bucket, Key=f"run/fold-{number}.pt", Body=content)
