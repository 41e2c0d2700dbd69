"""Runs the attacks for the page, a row for each group of them."""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bed import beds
from bed.s3 import S3Server
from chaos.attacks import pod
from chaos.attacks.cases import BATCH, CASES, Case
from chaos.attacks.promises import Broken, judge
from chaos.journal import Row

TITLE = "Hostile code of a model"
TEXT = """\
The model's code attacks, in a whole run of the pod's process, started with the variables of the
operator's Job and without capabilities. Source, code and destination are on the S3 server. After
each attack everything in the bucket, the log, the termination message and `/proc` is searched: for
secrets in any form, for access that the code reports, for a published file that differs from the
honest model or from its manifest, for processes and directories that are left, for control
characters and scripts in what people read, and for an end other than a typed one within the
deadline. Attacks on the verdict change functions of the exporter, numpy and onnxruntime in the
process that has the reference.
"""
CODE = Path(__file__).parent / "code"
_OVERTIME_SECONDS = 90


@dataclass
class Range:
    """The store of all attacks, and the honest model."""

    server: S3Server
    checkpoints: dict[str, bytes]
    expected: Any
    """Inputs, and outputs of the honest model by the name of its checkpoint."""

    def attack(self, case: Case) -> list[Broken]:
        """Run a case; return the promises that were broken."""
        bucket = self.server.bucket("attack")
        try:
            with pod.machine(self.canaries()) as on:
                self._upload(bucket)
                manifest = self._manifest(case, bucket, on)
                ended = pod.run(manifest, self.server, on, case.seconds + _OVERTIME_SECONDS)
                ended.objects = self._objects(bucket)
                return judge(case, ended, self.expected)
        finally:
            self.server.delete_bucket(bucket)

    def canaries(self) -> dict[str, str]:
        """Return what must never be seen."""
        names = ("token", "profile", "other run", "variable")
        return {"the store's key": self.server.secret_key} | {
            name: f"canary-{secrets.token_hex(12)}" for name in names
        }

    def _upload(self, bucket: str) -> None:
        client = self.server.client()
        for name, content in self.checkpoints.items():
            client.put_object(Bucket=bucket, Key=f"models/{name}.pt", Body=content)
        for path in CODE.glob("*.py"):
            client.put_object(Bucket=bucket, Key=f"code/{path.name}", Body=path.read_bytes())

    def _manifest(self, case: Case, bucket: str, on: pod.Machine) -> dict[str, Any]:
        aim = {
            "attack": case.name,
            "token": str(on.token),
            "profile": str(on.work / ".aws" / "credentials"),
            "other": str(on.other / "checkpoint"),
            "outside": str(on.outside),
            "work": str(on.work),
            "termination": str(on.termination),
            "log": str(on.root / "log"),
            "endpoint": self.server.endpoint,
            "bucket": bucket,
        }
        code = {"uri": f"s3://{bucket}/code/"}
        name = "model" if not case.batch else f"[{''.join(BATCH)}]"
        below = "{stem}/" if case.batch else ""
        return {
            "apiVersion": "modelexport.dev/v1alpha1",
            "kind": "ModelExport",
            "metadata": {"name": "attack", "namespace": "default", "uid": "0000"},
            "spec": {
                "source": {"uri": f"s3://{bucket}/models/{name}.pt"},
                "storage": {"endpoint": self.server.endpoint},
                "model": {"factory": "victim:build", "kwargs": aim, "code": code},
                "inputs": [{"name": "x", "shape": ["batch", 4]}],
                "dims": {"batch": {"max": 8}},
                "verification": {"benchmark": False},
                "destination": {"uri": f"s3://{bucket}/out/{below}"},
                "activeDeadlineSeconds": case.seconds,
                **case.spec,
            },
        }

    def _objects(self, bucket: str) -> dict[str, bytes]:
        client = self.server.client()
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        keys = [item["Key"] for page in pages for item in page.get("Contents", [])]
        inputs = ("code/", "models/")
        return {
            key: client.get_object(Bucket=bucket, Key=key)["Body"].read()
            for key in keys
            if not key.startswith(inputs)
        }


@contextmanager
def opened(server: S3Server) -> Iterator[Range]:
    """Yield the range, with a model that was not tampered with."""
    import torch

    checkpoints, outputs = {}, {}
    inputs = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    for seed, name in enumerate(("model", *BATCH)):
        torch.manual_seed(seed)
        model = torch.nn.Linear(4, 3)
        state = {f"linear.{key}": value for key, value in model.state_dict().items()}
        file = io.BytesIO()
        torch.save(state, file)
        checkpoints[name] = file.getvalue()
        outputs[name] = model(inputs).detach().numpy()
    yield Range(server, checkpoints, (inputs.numpy(), outputs))


def run(count: int | None, seed: int) -> Iterable[Row]:
    """Run all attacks, or the first so many; the row of a group has all of its attacks."""
    del seed
    cases = CASES[:count]
    with beds.s3_running() as server, opened(server) as range_:
        for group in dict.fromkeys(case.group for case in cases):
            yield _row(group, [case for case in cases if case.group == group], range_)


def _row(group: str, cases: list[Case], range_: Range) -> Row:
    broken: dict[str, list[Broken]] = {}
    for case in cases:
        found = range_.attack(case)
        verdict = "; ".join(f"{entry.kind}: {entry.what}" for entry in found) or "held"
        print(f"  {case.name}: {verdict}", flush=True)
        if found:
            broken[case.name] = found
    counts = {
        kind: sum(any(entry.kind == kind for entry in found) for found in broken.values())
        for kind in ("lost", "wrong", "leaked")
    }
    names = ", ".join(case.name for case in cases)
    held = len(cases) - len(broken)
    return Row("attacks", group, len(cases), held, remarks=names.replace("|", "/"), **counts)
