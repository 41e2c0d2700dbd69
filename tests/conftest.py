"""Fixtures that every test may use; the test bed's own live in `bed.fixtures`."""

from __future__ import annotations

import os
from collections.abc import Generator

import hypothesis
import pytest

pytest_plugins = ["bed.fixtures"]

# A machine that does something else meanwhile is no failure.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")


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
