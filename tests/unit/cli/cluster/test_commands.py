from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pydantic

ROOT = Path(__file__).resolve().parents[4]
NEEDED = (
    *("pydantic", "pydantic_core", "annotated_types", "typing_extensions.py"),
    *("typing_inspection", "yaml", "_yaml"),
)
"""What `pip install modelexport` installs without extras."""


def test_without_the_extra_a_command_says_what_to_install(tmp_path: Path) -> None:
    site = Path(pydantic.__file__).parents[1]
    for name in NEEDED:
        if (site / name).exists():
            (tmp_path / name).symlink_to(site / name)
    sources = [str(ROOT / part) for part in ("api", "exporter", "cli")]
    done = subprocess.run(
        [sys.executable, "-S", "-m", "modelexport_cli.main", "logs", "digits"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sources])},
    )
    assert done.returncode == 2
    assert done.stderr == (
        "modelexport logs needs Python packages that are not installed: kubernetes, rich\n"
        "Install them: pip install 'modelexport[cluster]'\n"
    )


def test_kubectl_finds_the_command_as_its_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["kubectl-modelexport"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
