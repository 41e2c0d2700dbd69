"""Where packages are installed, besides the interpreter's own directories."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from modelexport_exporter.core.installed import has_distributions

SHOWN = """
from modelexport_exporter.core.user_frame import is_users
print(*(is_users(f"{place}/net.py", None) for place in PLACES))
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [("acme-1.0.dist-info", True), ("acme.egg-info", False), ("acme", False)],
)
def test_an_installer_leaves_metadata(tmp_path: Path, name: str, expected: bool) -> None:
    (tmp_path / name).mkdir()
    assert has_distributions(str(tmp_path)) is expected


def test_what_is_no_directory_has_none(tmp_path: Path) -> None:
    (tmp_path / "packages.zip").touch()
    assert not has_distributions(str(tmp_path / "packages.zip"))
    assert not has_distributions(str(tmp_path / "nothing"))


def test_packages_that_python_finds_by_pythonpath_are_nobodys_own(tmp_path: Path) -> None:
    """As `pip install --target` and images whose libraries are in a directory of their own."""
    target, code, beside = (tmp_path / name for name in ("target", "code", "target-of-mine"))
    (target / "acme-1.0.dist-info").mkdir(parents=True)
    shown = subprocess.run(
        [
            sys.executable,
            "-c",
            SHOWN.replace("PLACES", repr([str(target), str(code), str(beside)])),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(target), str(code), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split() == ["False", "True", "True"]
