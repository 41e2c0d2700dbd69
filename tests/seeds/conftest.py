"""Fixtures of the coverage: one recorder for the whole run, one bench for each case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from seeds.ahead import Ahead
from seeds.case import Case
from seeds.harness import Bench
from seeds.recording import Recorder

_NAMES = pytest.StashKey[dict[str, str]]()


@pytest.fixture(scope="session")
def recorder() -> Recorder:
    """What this run found."""
    return Recorder()


@pytest.fixture(scope="session")
def ahead(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ahead]:
    """The exports of all cases that are parameters of this run's tests."""
    exports = Ahead(_cases(request.session.items), tmp_path_factory.mktemp)
    yield exports
    exports.close()


@pytest.fixture
def bench(recorder: Recorder, ahead: Ahead, tmp_path: Path) -> Bench:
    """The product, in an empty directory."""
    return Bench(tmp_path, recorder, ahead)


def _cases(items: Sequence[pytest.Item]) -> list[Case]:
    """Return the cases that are parameters of tests."""
    found = [getattr(item, "callspec", None) for item in items]
    cases = [spec.params["case"] for spec in found if spec and "case" in spec.params]
    return [case for case in cases if isinstance(case, Case)]


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Refuse to run two cases of one name: either would be given what the other's export is."""
    for case in _cases([item]):
        other = item.session.stash.setdefault(_NAMES, {}).setdefault(case.name, item.nodeid)
        if other != item.nodeid:
            raise pytest.UsageError(f"{other} and {item.nodeid}: both cases are named {case.name}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Compare the table with the run when the run is over."""
    items.sort(key=lambda item: "seeds" in item.path.parts and item.path.stem == "test_coverage")
