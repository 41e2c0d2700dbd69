"""Fixtures of the coverage: one recorder for the whole run, one bench for each case."""

from __future__ import annotations

from pathlib import Path

import pytest

from seeds.harness import Bench
from seeds.recording import Recorder


@pytest.fixture(scope="session")
def recorder() -> Recorder:
    """What this run found."""
    return Recorder()


@pytest.fixture
def bench(recorder: Recorder, tmp_path: Path) -> Bench:
    """The product, in an empty directory."""
    return Bench(tmp_path, recorder)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Compare the table with the run when the run is over."""
    items.sort(key=lambda item: "seeds" in item.path.parts and item.path.stem == "test_coverage")
