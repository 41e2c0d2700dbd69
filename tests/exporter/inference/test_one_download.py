"""`modelexport export` of an object in a store: it is downloaded once, for inference and export."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bed.s3 import S3Server
from throttling import throttling

pytestmark = pytest.mark.s3


def test_a_checkpoint_is_downloaded_once(tmp_path: Path, s3: S3Server, bucket: str) -> None:
    archive = tmp_path / "net.pt"
    example = torch.zeros(2, 4)
    torch.jit.trace(torch.nn.Linear(4, 3), example).save(str(archive))  # type: ignore[no-untyped-call]
    s3.client().upload_file(str(archive), bucket, "net.pt")
    environment = {name: value for name, value in os.environ.items() if name[:4] != "AWS_"}
    with throttling(s3.endpoint) as proxy:
        command = [sys.executable, "-m", "modelexport_cli.main", "export", f"s3://{bucket}/net.pt"]
        command += ["--input", "x[batch,4]", "--endpoint", proxy.endpoint]
        command += ["--out", f"{tmp_path}/out", "--work-dir", f"{tmp_path}/work"]
        ended = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=environment | s3.environment(),
        )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Verified" in ended.stdout
    assert (tmp_path / "out" / "model.onnx").is_file()
    downloads = [request for request in proxy.passed if request.startswith(f"GET /{bucket}/net.pt")]
    assert len(downloads) == 1, proxy.passed
    assert list((tmp_path / "work").iterdir()) == []
