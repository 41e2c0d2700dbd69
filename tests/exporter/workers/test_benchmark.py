"""Latency measured for real, torch.compile's included, in the time that the spec sets."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from modelexport_api.resource import parse
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from models import catalog

pytestmark = pytest.mark.usefixtures("torch_workers")


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler (apt install g++)")
def test_torch_compile_is_measured_with_eager_and_onnxruntime(tmp_path: Path) -> None:
    manifest = catalog.DIGITS.manifest(
        f"file://{catalog.DIGITS.checkpoint(tmp_path)}",
        f"file://{catalog.DIGITS.zip_code(tmp_path / 'code.zip')}",
        f"file://{tmp_path}/out/",
        verification={"benchmarkSeconds": 400},
    )
    result = run(parse(manifest), Settings(tmp_path / "work"), JsonLog(sys.stderr))
    assert result.verification is not None, result.failure
    latency = result.verification.latency_ms
    assert latency is not None
    assert latency.compiled is not None, result
    for figures in (latency.eager, latency.onnx, latency.compiled):
        assert 0 < figures.median <= figures.p95
