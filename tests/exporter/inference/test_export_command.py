"""`modelexport export` and `init`: real checkpoints, real exports, no manifest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
import torch

from modelexport_cli.main import main
from zoo.code import undescribed

_NET = Path(undescribed.__file__)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def weights(name: str, directory: Path) -> None:
    """Write the weights of a module, and its code beside them."""
    torch.manual_seed(0)
    module = getattr(undescribed, name)()
    torch.save(module.state_dict(), directory / "net.pt")
    (directory / "net.py").write_text(_NET.read_text())


def export(*arguments: str) -> tuple[int, dict[str, object]]:
    """Run the command in a process of its own; return its exit code and the status."""
    command = [sys.executable, "-m", "modelexport_cli.main", "export", *arguments, "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    status: dict[str, object] = json.loads(done.stdout)
    return done.returncode, {**status, "log": done.stderr}


def shapes(path: Path) -> dict[str, list[int | str]]:
    graph = onnx.load(path).graph
    return {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in [*graph.input, *graph.output]
    }


def test_one_line_leads_to_a_verified_file(here: Path) -> None:
    weights("Factors", here)
    fast = ("--set", "verification.benchmark=false")
    code, status = export("net.pt", "--factory", "net:Factors", "--dim", "sequence=1..9", *fast)
    assert code == 0, status
    assert shapes(here / "net-onnx" / "model.onnx") == {
        "user": ["batch", "sequence"],
        "item": ["batch", "sequence"],
        "output_0": ["batch", "sequence"],
    }
    report = json.loads((here / "net-onnx" / "report.json").read_text())
    inferred = {entry["field"]: entry["value"] for entry in report["inferred"]}
    assert inferred["inputs[1].range"] == "0..69"
    assert inferred["dims.batch"] == "1..32"
    assert "dims.sequence" not in inferred
    log = str(status["log"])
    assert "Input     user: int64 [batch, sequence], 0..49  * forward's signature" in log
    assert log.index("Input  ") < log.index("capturing the graph")


def test_a_script_needs_nothing_but_the_path(here: Path) -> None:
    torch.manual_seed(0)
    torch.jit.save(torch.jit.script(undescribed.Half().eval()), "half.pt")
    code, status = export("half.pt", "--set", "verification.benchmark=false")
    assert code == 0, status
    assert shapes(here / "half-onnx" / "model.onnx")["x"] == ["batch", 6]


def test_what_init_writes_is_what_export_does(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights("Half", here)
    assert main(["init", "net.pt", "--factory", "net:Half", "-f", "made.yaml"]) == 0
    assert "modelexport run made.yaml" in capsys.readouterr().err
    text = (here / "made.yaml").read_text()
    assert "shape: [batch, 6]" in text
    assert "# inferred: forward's signature" in text
    assert main(["init", "net.pt", "--factory", "net:Half", "-f", "made.yaml"]) == 2


def test_inputs_that_are_not_found_end_it_before_the_export(here: Path) -> None:
    weights("Never", here)
    code, status = export("net.pt", "--factory", "net:Never")
    assert code == 13
    failure = status["failure"]
    assert isinstance(failure, dict)
    assert failure["reason"] == "InputsMismatch"
    assert "--input 'record:" in failure["hint"]
    assert not (here / "net-onnx").exists()
