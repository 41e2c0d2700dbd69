"""The scripts of `modelexport completion`, used by the shells themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bed import debian
from bed.fixtures import require

ASK = """
eval "$SCRIPT"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
$(complete -p modelexport | sed -E 's/.*-F ([^ ]+).*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


def script(shell: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "modelexport_cli.main", "completion", shell],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture(scope="module")
def in_bash() -> str:
    return script("bash")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "modelexport.yaml").write_text("kind: ModelExport")
    (tmp_path / "models").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["ren"], ["render"], id="a command"),
        pytest.param(["run", "--v"], ["--verbose"], id="an option"),
        pytest.param(["diagnose", "--sk"], ["--skeleton"], id="an option of one command"),
        pytest.param(["run", "-o", "j"], ["json"], id="a value"),
        pytest.param(["run", "m"], ["models", "modelexport.yaml"], id="a manifest"),
        pytest.param(["run", "--work-dir", "m"], ["models"], id="a directory"),
        pytest.param(["verify", "--artifact", "m"], ["models", "modelexport.yaml"], id="a file"),
        pytest.param(["completion", "z"], ["zsh"], id="a shell"),
    ],
)
def test_bash_completes(
    in_bash: str, directory: Path, words: list[str], expected: list[str]
) -> None:
    done = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", "modelexport", *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=directory,
        env={"SCRIPT": in_bash, "PATH": "/usr/bin:/bin"},
    )
    assert sorted(done.stdout.split()) == sorted(expected), done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_the_script(shell: str, tmp_path: Path) -> None:
    text = script(shell)
    for word in ("modelexport", "verify", "work-dir", "completion"):
        assert word in text
    require("shells")
    (tmp_path / "script").write_text(text)
    subprocess.run([debian.SHELLS[shell], "-n", tmp_path / "script"], check=True)
