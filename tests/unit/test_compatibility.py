"""docs/compatibility.md names the versions that are locked and built."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from bed import versions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "compatibility.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKED = dict(
    re.findall(
        r"^([\w-]+)==([\w.]+)", (ROOT / "requirements" / "dev.txt").read_text(), re.MULTILINE
    )
)
NAMES = ("torch", "torchvision", "onnx", "onnx-ir", "onnxscript", "onnxruntime-gpu", "transformers")


def row(name: str) -> list[str]:
    """Return the cells of the row that begins with the name."""
    found = re.search(rf"^\| {re.escape(name)} \|(.*)\|$", PAGE, re.MULTILINE)
    assert found is not None, f"no row for {name}"
    return [cell.strip(" `") for cell in found.group(1).split("|")]


@pytest.mark.parametrize("name", NAMES)
def test_tested_version_is_the_locked_one(name: str) -> None:
    assert row(name)[0] == LOCKED[name]


@pytest.mark.parametrize("name", NAMES)
def test_allowed_versions_are_those_of_the_distribution(name: str) -> None:
    extras = PROJECT["optional-dependencies"]
    stated = (*extras["exporter-common"], *extras["exporter"], *extras["models"])
    required = [entry.partition(";")[0] for entry in stated]
    bounds = {
        re.split(r"[\[><=]", entry)[0]: re.sub(r"^[\w-]+(\[.*\])?", "", entry) for entry in required
    }
    assert row(name)[1] == bounds[name].strip()


def test_kubernetes_is_that_of_the_test_bed() -> None:
    assert row("Kubernetes")[0] == versions.KUBERNETES


def test_python_is_that_of_the_distribution() -> None:
    assert row("Python")[1] == PROJECT["requires-python"]
