"""What a command does when nobody reads on, and how soon it gives a sign of life."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MANIFEST = """\
apiVersion: modelexport.dev/v1alpha1
kind: ModelExport
metadata: {name: m}
spec:
  source: {uri: s3://a/b}
  inputs: [{name: x}]
  destination: {uri: s3://a/out/}
"""
COMMAND = [sys.executable, "-m", "modelexport_cli.main"]
MOST_SECONDS = 0.4


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "m.yaml"
    path.write_text(MANIFEST)
    return path


def closed_pipe() -> int:
    """Return the end of a pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["render", "MANIFEST"], 0, id="output"),
        pytest.param(["render", "missing.yaml"], 10, id="errors"),
        pytest.param(["run", "missing.yaml"], 10, id="run"),
        pytest.param(["diagnose", "missing.yaml"], 10, id="diagnose"),
        pytest.param(["inspect", "missing.onnx"], 11, id="inspect"),
        pytest.param(["completion", "bash"], 0, id="completion"),
        pytest.param(["verify", "--help"], 0, id="help"),
        pytest.param(["--version"], 0, id="version"),
        pytest.param(["run"], 2, id="usage"),
    ],
)
def test_a_reader_that_has_gone_does_not_change_the_exit_code(
    manifest: Path, arguments: list[str], code: int
) -> None:
    given = [str(manifest) if word == "MANIFEST" else word for word in arguments]
    for stream in ("stdout", "stderr"):
        pipe = closed_pipe()
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: pipe}
        done = subprocess.run([*COMMAND, *given], check=False, **streams)  # type: ignore[call-overload]
        os.close(pipe)
        assert done.returncode == code
        assert b"Traceback" not in (done.stdout or b"") + (done.stderr or b"")
        assert b"BrokenPipe" not in (done.stdout or b"") + (done.stderr or b"")


def test_head_gets_its_line(manifest: Path) -> None:
    text = f"'{sys.executable}' -m modelexport_cli.main render '{manifest}' | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", text], capture_output=True, text=True, check=True
    )
    assert done.stdout == "apiVersion: batch/v1\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    "command", [["run"], ["verify"], ["diagnose"], ["export", "--out", "out"]], ids=str
)
def test_the_first_line_comes_soon(command: list[str], manifest: Path) -> None:
    def seconds() -> float:
        """Return the time of the CPU until the first line: others use this machine, too."""
        process = subprocess.Popen(
            [*COMMAND, *command, str(manifest)],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd=manifest.parent,
        )
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        used = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        process.kill()
        process.communicate()
        assert line.startswith("modelexport 0.")
        assert line.rstrip().endswith(f"{command[0]} {manifest}")
        return sum(int(ticks) for ticks in used) / os.sysconf("SC_CLK_TCK")

    assert min(seconds() for _ in range(5)) < MOST_SECONDS
