"""What only a GPU can show: that models run and verify on it, and what falls back from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper, save

from modelexport_api.pod import MANIFEST_ENV
from modelexport_api.resource import parse
from modelexport_api.spec import Provider
from modelexport_api.status import Verdict
from modelexport_exporter.core.providers import fallbacks, on_cpu
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.pod import WORK_DIR_ENV
from modelexport_exporter.verification.runtime.cuda_libraries import missing_libraries
from modelexport_exporter.verification.runtime.session import Session
from modelexport_exporter.workers.benchmark import measure
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.verify import verify_model
from models import catalog
from models.catalog import RealModel
from models.exporting import forget_user_code, silent

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]


@pytest.fixture(autouse=True)
def _one_test_is_one_worker() -> Iterator[None]:
    yield
    forget_user_code()


def exported(
    directory: Path, model: RealModel, provider: str, precision: str = "Native", opset: int = 20
) -> tuple[ExportTask, ConvertedModel]:
    checkpoint, output = model.checkpoint(directory), directory / "onnx"
    output.mkdir()
    manifest = model.manifest(
        f"file://{checkpoint}",
        f"file://{model.code}",
        "file:///o/",
        export={"precision": precision, "opset": opset},
        verification={"provider": provider},
    )
    task = ExportTask(parse(manifest).spec, checkpoint, model.code.parent, output)
    return task, export_model(task, silent)


@pytest.mark.parametrize("precision", ["Native", "Float16"])
@pytest.mark.parametrize("model", [catalog.DIGITS, catalog.MINILM], ids=["digits", "MiniLM"])
def test_a_model_verifies_on_cuda(tmp_path: Path, model: RealModel, precision: str) -> None:
    task, converted = exported(tmp_path, model, "CUDA", precision)
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert outcome.summary.provider == "CUDA"
    assert outcome.summary.fallback_nodes == 0


@pytest.mark.parametrize("model", [catalog.DIGITS, catalog.MINILM], ids=["digits", "MiniLM"])
def test_a_whole_run_in_the_sandbox_verifies_on_cuda(tmp_path: Path, model: RealModel) -> None:
    """In processes that were forked, each limited before it opens CUDA."""
    manifest = model.manifest(
        f"file://{model.checkpoint(tmp_path)}",
        f"file://{model.zip_code(tmp_path / 'code.zip')}",
        f"file://{tmp_path}/out/",
        verification={"provider": "CUDA", "benchmark": True},
    )
    manifest["spec"]["isolation"] = "Required"
    command = [sys.executable, "-m", "modelexport_exporter"]
    settings = {MANIFEST_ENV: json.dumps(manifest), WORK_DIR_ENV: str(tmp_path / "work")}
    done = subprocess.run(
        command, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["verification"]["verdict"] == "Verified"
    assert report["verification"]["provider"] == "CUDA"
    assert report["verification"]["isolation"]["landlockAbi"] > 0


def test_bfloat16_runs_on_cuda(tmp_path: Path) -> None:
    task, converted = exported(tmp_path, catalog.MINILM, "CUDA", "BFloat16", opset=22)
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert outcome.losses


def test_a_model_verifies_on_tensorrt(tmp_path: Path) -> None:
    if missing := missing_libraries("TensorRT"):
        pytest.skip(f"TensorRT is not installed: {', '.join(missing)}")
    task, converted = exported(tmp_path, catalog.DIGITS, "TensorRT")
    outcome = verify_model(task, converted, silent)
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert outcome.summary.provider == "TensorRT"


def test_what_cuda_has_no_kernel_for_is_reported(tmp_path: Path) -> None:
    """Det has none; MatMul beside it has."""
    square: list[str | int | None] = ["n", 3, 3]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "x"], ["h"]), helper.make_node("Det", ["h"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, square)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    save(model, tmp_path / "m.onnx")
    session = Session(tmp_path / "m.onnx", Provider.CUDA)
    found = fallbacks(session.assignment, Provider.CUDA)
    assert [(entry.op, entry.shapes_only) for entry in found if not entry.shapes_only] == [
        ("Det", False)
    ]
    assert on_cpu(found) == 1


def test_tf32_is_off_on_both_sides(tmp_path: Path) -> None:
    """TF32 keeps 10 bits: a product would be off by 1e-4 and more."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [512, 512]) for name in ("x", "w")],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [512, 512])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    save(model, tmp_path / "m.onnx")
    x, w = np.random.default_rng(0).standard_normal((2, 512, 512)).astype(np.float32)
    exact = x.astype(np.float64) @ w.astype(np.float64)
    (got,) = Session(tmp_path / "m.onnx", Provider.CUDA).run({"x": x, "w": w}, "here")
    assert np.abs(got - exact).max() < 1e-5 * np.abs(exact).max()


def test_latency_is_measured_on_the_gpu(tmp_path: Path) -> None:
    task, converted = exported(tmp_path, catalog.DIGITS, "CUDA")
    found = measure(task, converted, 60.0, silent)
    assert found.latency is not None
    assert found.latency.dims == {"batch": 64}
