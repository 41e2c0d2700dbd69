"""There is one version: what repeats the one of pyproject.toml is equal to it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_chart_has_the_version_of_the_distribution() -> None:
    chart = yaml.safe_load((ROOT / "charts" / "modelexport" / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)


def test_the_changelog_describes_the_version() -> None:
    headings = (ROOT / "CHANGELOG.md").read_text().splitlines()
    assert f"## {VERSION}" in [heading.partition(" - ")[0] for heading in headings]
