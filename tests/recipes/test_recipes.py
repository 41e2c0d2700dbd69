"""The recipes of docs/recipes.md, run as they are written there, in a directory of their own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from documentation.blocks import blocks, commands
from modelexport_api.status import ModelExportStatus, Verdict

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "recipes.md").read_text()
_PARTS = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)[1:]
RECIPES = {
    title: text
    for title, text in zip(_PARTS[::2], _PARTS[1::2], strict=True)
    if "```console" in text
}
_PROGRAMS = {
    "python": [sys.executable],
    "modelexport": [sys.executable, "-m", "modelexport_cli.main"],
}
_FASTER = ["--set", "verification.benchmark=false", "-o", "json"]


def run(arguments: list[str], directory: Path) -> str:
    # As in a clone: the working tree's packages, wherever the command runs.
    path = os.pathsep.join(str(ROOT / name) for name in ("api", "exporter", "cli"))
    done = subprocess.run(
        arguments,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe(title: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for block in blocks(RECIPES[title]):
        for line in commands(block):
            name, *rest = shlex.split(line)
            exports = name == "modelexport"
            output = run([*_PROGRAMS[name], *rest, *(_FASTER if exports else [])], tmp_path)
            if exports:
                status = ModelExportStatus.model_validate_json(output)
                assert status.verification is not None
                assert status.verification.verdict is Verdict.VERIFIED
        if block.language == "python":
            run([sys.executable, "-c", block.text], tmp_path)


def test_there_are_recipes() -> None:
    assert len(RECIPES) == 4
