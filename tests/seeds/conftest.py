"""Fixtures of the coverage: one recorder for the whole run, one bench for each case.

`make coverage` sets MODELEXPORT_COVERAGE, and docs/coverage.md is written when the run is over:
with `all`, from what this run found; with `merge`, only the cases that ran change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from seeds.case import Case
from seeds.coverage import PAGE, parse, render
from seeds.harness import Bench
from seeds.recording import Finding, Outcome, Recorder

WRITE = os.environ.get("MODELEXPORT_COVERAGE", "")
_NAMES = pytest.StashKey[dict[str, str]]()
_FOUND = pytest.StashKey[Recorder]()
_SENT = "coverage"


def pytest_configure(config: pytest.Config) -> None:
    """Begin a run that found nothing yet."""
    config.stash[_FOUND] = Recorder()


@pytest.fixture(scope="session")
def listed() -> dict[str, Finding]:
    """The findings of docs/coverage.md."""
    return parse(PAGE.read_text())


@pytest.fixture
def bench(
    pytestconfig: pytest.Config,
    listed: dict[str, Finding],
    tmp_path: Path,
    torch_workers: None,
) -> Iterator[Bench]:
    """The product, in an empty directory. What it finds has to be what the page says."""
    bench = Bench(tmp_path, Recorder())
    yield bench
    found = bench.recorder.findings
    for finding in found.values():
        pytestconfig.stash[_FOUND].add(finding)
    changed = {name: finding for name, finding in found.items() if listed.get(name) != finding}
    assert WRITE or not changed, "docs/coverage.md says otherwise: run make coverage"


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Refuse to run two cases of one name: the page could list only one."""
    spec = getattr(item, "callspec", None)
    case = spec.params.get("case") if spec else None
    if isinstance(case, Case):
        other = item.session.stash.setdefault(_NAMES, {}).setdefault(case.name, item.nodeid)
        if other != item.nodeid:
            raise pytest.UsageError(f"{other} and {item.nodeid}: both cases are named {case.name}")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:  # noqa: ANN401
    """Take in what a process of pytest-xdist found."""
    for entry in json.loads(getattr(node, "workeroutput", {}).get(_SENT, "[]")):
        finding = {**entry, "rows": tuple(entry["rows"]), "outcome": Outcome(entry["outcome"])}
        node.config.stash[_FOUND].add(Finding(**finding))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what this process found, or write the page."""
    found = session.config.stash[_FOUND].findings
    output: dict[str, str] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_SENT] = json.dumps([asdict(finding) for finding in found.values()])
    elif WRITE and found:
        known = {} if WRITE == "all" else parse(PAGE.read_text())
        PAGE.write_text(render((known | found).values()))
