"""Fixtures that every test may use; the bed's are `bed.fixtures`."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

# Before anything imports torch: several processes of pytest, and all that they start, share the
# CPUs, and threads that wait for each other by spinning take what the others need.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import pytest

pytest_plugins = ["bed.fixtures", "parallel", "shares"]

# A machine that does something else meanwhile is no failure.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.register_profile("fast", deadline=None, max_examples=10)
hypothesis.settings.load_profile("patient")

_TORCH_WORKERS = "torch_workers"


@pytest.fixture(scope="session")
def torch_workers() -> None:
    """The fork server of this process has imported all that an export needs (`warm_workers`)."""


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the fork server before a test starts one that has imported less.

    What was imported lives until the end: collections of garbage need not visit it.
    """
    if session.config.option.collectonly:
        return
    gc.freeze()
    if any(_TORCH_WORKERS in getattr(item, "fixturenames", ()) for item in session.items):
        _start_fork_server()


def _start_fork_server() -> None:
    from modelexport_exporter.isolation.server import start_server

    with pytest.MonkeyPatch.context() as patch:
        # The server does not take over sys.path, and passes over what it cannot import.
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        start_server(["warm_workers"])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a test that does not run is a failure, unless it needs a GPU."""
    report = yield
    may_skip = item.get_closest_marker("gpu") or os.environ.get("MODELEXPORT_CI") != "1"
    if report.skipped and not may_skip:
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report
