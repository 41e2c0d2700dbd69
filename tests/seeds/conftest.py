"""Fixtures of the coverage: one recorder for the whole run, one bench for each case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from seeds.ahead import Ahead
from seeds.case import Case
from seeds.harness import Bench
from seeds.recording import Recorder


@pytest.fixture(scope="session")
def recorder() -> Recorder:
    """What this run found."""
    return Recorder()


@pytest.fixture(scope="session")
def ahead(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ahead]:
    """The exports of all cases that are parameters of this run's tests."""
    found = [getattr(item, "callspec", None) for item in request.session.items]
    cases = [spec.params["case"] for spec in found if spec and "case" in spec.params]
    exports = Ahead([case for case in cases if isinstance(case, Case)], tmp_path_factory.mktemp)
    yield exports
    exports.close()


@pytest.fixture
def bench(recorder: Recorder, ahead: Ahead, tmp_path: Path) -> Bench:
    """The product, in an empty directory."""
    return Bench(tmp_path, recorder, ahead)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Compare the table with the run when the run is over."""
    items.sort(key=lambda item: "seeds" in item.path.parts and item.path.stem == "test_coverage")
