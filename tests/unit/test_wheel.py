"""The wheel: built, installed into an empty environment, and called by its name."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "modelexport",
    "modelexport_api",
    "modelexport_cli",
    "modelexport_exporter",
    "modelexport_operator",
}

ROOTS = ("api", "cli", "exporter", "operator")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout. The build tool is installed already, so nothing is downloaded."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel alone, which sees the dependencies of this one."""
    place = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    python = place / "bin" / "python"
    command = [sys.executable, "-m", "uv", "pip", "install", "--offline", "--no-deps", "--quiet"]
    subprocess.run([*command, "--python", str(python), str(wheel)], check=True)
    site = next(place.glob("lib/python*/site-packages"))
    # A directory of a .pth file does not run the .pth files in it: this checkout stays out.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


def run(environment: Path, *command: str) -> str:
    """Return what a command prints that is found on the PATH."""
    path = os.pathsep.join([str(environment / "bin"), os.environ["PATH"]])
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command,
        env={**bare, "PATH": path},
        cwd=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_the_wheel_has_all_packages_and_what_they_read(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES
    sources = [path for root in ROOTS for path in (ROOT / root).glob("modelexport*/**/*.*")]
    missing = [
        path
        for path in sources
        if "__pycache__" not in path.parts
        and "/".join(path.relative_to(ROOT).parts[1:]) not in names
    ]
    assert sources
    assert missing == []


def test_the_wheel_has_the_extras(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = archive.read(name).decode().splitlines()
    extras = {"exporter", "operator", "models", "tensorrt", "dev"}
    assert {f"Provides-Extra: {extra}" for extra in extras} <= set(metadata)


def test_the_command_is_on_the_path(environment: Path, wheel: Path) -> None:
    version = run(environment, "modelexport", "--version").split()[-1]
    assert wheel.name.startswith(f"modelexport-{version}-")
    assert "CHECKPOINT" in run(environment, "modelexport", "export", "--help")
    assert "onnxruntime" in run(environment, "modelexport", "explain", "VerificationFailed")


def test_the_package_can_be_imported(environment: Path) -> None:
    program = "import modelexport; print(modelexport.__file__)"
    assert run(environment, "python", "-c", program).startswith(str(environment))
