from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelexport_api.status import ModelExportStatus
from modelexport_cli import explain
from modelexport_cli.main import main


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "modelexport_cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )


def test_help_imports_only_the_standard_library() -> None:
    script = (
        "import sys; from modelexport_cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'boto3', 'onnx', 'numpy', 'pydantic', 'rich', 'kopf'}\n"
        "print('imported:', heavy & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stdout.endswith("imported: set()\n")
    assert "run " in done.stdout
    assert "render " in done.stdout


def test_help_is_fast() -> None:
    def seconds() -> float:
        begin = os.times()
        assert command("--help").returncode == 0
        end = os.times()
        return end.children_user + end.children_system - begin.children_user - begin.children_system

    assert min(seconds() for _ in range(5)) < 0.3


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(["exprt"], "export"), (["run", "x.yaml", "-o", "jsno"], "json")],
)
def test_a_misspelled_choice_is_named(arguments: list[str], meant: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stderr.endswith(f"; did you mean `{meant}`?\n")


def test_version() -> None:
    assert command("--version").stdout.startswith("modelexport 0.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "cannot be read"),
        ("a: [", "is not YAML"),
        ("", "found 0"),
        ("kind: ModelExport\nmetadata: {name: x}\nspec: {}", "spec.source"),
    ],
)
def test_an_invalid_manifest_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, expected: str
) -> None:
    manifest = tmp_path / "m.yaml"
    if text is not None:
        manifest.write_text(text)
    assert main(["run", str(manifest)]) == 10
    out = capsys.readouterr().out
    assert "InvalidManifest" in out
    assert expected in out


def test_json_is_only_the_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = tmp_path / "m.yaml"
    manifest.write_text(
        json.dumps(
            {
                "apiVersion": "modelexport.dev/v1alpha1",
                "kind": "ModelExport",
                "metadata": {"name": "m"},
                "spec": {
                    "source": {"uri": "file://./missing.pt"},
                    "inputs": [{"name": "x"}],
                    "destination": {"uri": "file://./out/"},
                },
            }
        )
    )
    work_dir = str(tmp_path / "work")
    assert main(["run", str(manifest), "--output", "json", "--work-dir", work_dir]) == 11
    status = ModelExportStatus.model_validate_json(capsys.readouterr().out)
    assert status.failure is not None
    assert f"{tmp_path}/missing.pt not found" in status.failure.message
    assert [condition.type for condition in status.conditions][-1] == "Failed"


def test_render_prints_the_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = tmp_path / "m.yaml"
    manifest.write_text(
        "apiVersion: modelexport.dev/v1alpha1\nkind: ModelExport\n"
        "metadata: {name: m}\nspec:\n  source: {uri: s3://a/b}\n  inputs: [{name: x}]\n"
        "  destination: {uri: s3://a/out/}\n"
    )
    assert main(["render", str(manifest), "--image", "exporter:1"]) == 0
    out = capsys.readouterr().out
    assert "kind: Job" in out
    assert "image: exporter:1" in out


def test_ctrl_c_before_a_run_can_end_in_order_leaves_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_reason: str | None) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(explain, "print_explanation", interrupted)
    assert main(["explain"]) == 130
    assert capsys.readouterr().err == "modelexport: interrupted\n"
