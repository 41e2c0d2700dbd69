"""Calls of torch.onnx in user code, and the commands that succeed its functions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
import yaml
from onnxruntime import backend

from modelexport_api.reasons import Reason
from modelexport_cli.main import main
from modelexport_exporter.core.providers import GPU, NAMES
from seeds.case import Case, as_state_dict, refused, tensor
from seeds.harness import Bench, build_module, each, eager, manifest
from seeds.recording import Finding, Outcome

ROWS = (tensor("x", "batch", 6),)
FEW = {"batch": (1, 40)}
UNSUPPORTED = Case("E4 C24 C27", "diagnose", "custom_models:many_unsupported", (tensor("x", 5, 5),))

CASES = (
    Case("E5 E11 C38", "select_model_mode", "plain_models:mode_for_export", ROWS, FEW),
    Case(
        "E6",
        "set_training",
        "plain_models:norm_and_dropout",
        ROWS,
        FEW,
        model={"factory": "plain_models:set_training"},
        expected=refused(Reason.FACTORY_FAILED, words=("set_training",)),
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)


def test_the_graph_of_a_file_is_printed(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case("C2 C3 C4 E13", "printed_graph", "plain_models:perceptron", ROWS, FEW)
    path = str(bench.check(case).model_path)

    assert main(["inspect", "--graph", path]) == 0
    text = capsys.readouterr().out
    assert "valid" in text
    assert "[batch, 6]" in text
    assert "Gemm" in text
    assert main(["inspect", "--graph", "-o", "json", path]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["valid"]
    assert "Softmax" in found["graph"]


def test_the_onnx_backend_api_of_onnxruntime_runs_a_file(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORT_ONNX_BACKEND_EXCLUDE_PROVIDERS", ",".join(NAMES[gpu] for gpu in GPU))
    case = Case("C29 E15", "backend", "plain_models:perceptron", ROWS, FEW)
    exported = bench.check(case)
    x = np.random.default_rng(5).standard_normal((6, 6)).astype(np.float32)
    (want,) = eager(case, exported.module, {"x": x})
    model = onnx.load(str(exported.model_path))
    for source in (model, str(exported.model_path)):
        prepared = backend.prepare(source)
        for inputs in (x, [x]):
            np.testing.assert_allclose(prepared.run(inputs)[0], want, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(backend.run(model, [x])[0], want, rtol=1e-4, atol=1e-6)


def test_all_unconvertible_operators_without_an_export(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = as_state_dict(build_module(UNSUPPORTED), tmp_path)
    written = tmp_path / "manifest.yaml"
    written.write_text(yaml.safe_dump(manifest(UNSUPPORTED, checkpoint, tmp_path / "artifact")))

    assert main(["diagnose", "-o", "json", str(written)]) != 0
    diagnosis = json.loads(capsys.readouterr().out)
    found = {
        op["name"].split(".")[0]: op for route in diagnosis["routes"] for op in route["unsupported"]
    }
    assert {"aten::linalg_eigh", "aten::linalg_ldl_factor"} <= set(found)
    assert found["aten::linalg_eigh"]["source"].partition(":")[0].endswith("custom_models.py")
    assert all(op["support"] and op["hint"] for op in found.values())
    assert not (tmp_path / "artifact").exists()
    rows = tuple(UNSUPPORTED.rows.split())
    bench.recorder.add(Finding(rows, UNSUPPORTED.name, Outcome.REFUSED, "UnsupportedOperator"))
