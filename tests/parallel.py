"""How pytest-xdist's processes divide the tests: what shares a set-up stays together.

The order is that of `_LONGEST_FIRST`: when a single process has work left, it is little.
"""

from __future__ import annotations

from typing import Any

import pytest

_LONGEST_FIRST = ("e2e", "cluster", "mutants", "seeds", "exporter", "browser", "bad_input", "unit")
_ONE_PROCESS = ("e2e", "cluster")
"""Directories of which one process runs all: there is one node at a time, and two images; another
control plane would take a seventh of a CPU.
"""
_ONE_FILE = ("bad_input", "browser", "unit")
"""Directories whose files share what takes long to set up: a file is never split."""
_NODE_SECONDS = 1800
"""The first test on a node builds two images, beside other tests: 10 minutes alone."""

Work = dict[str, dict[str, bool]]
"""By scope and test: whether it ended."""


def scope_of(nodeid: str) -> str:
    """Return what a test shares with those that the same process has to run."""
    directory = _directory(nodeid)
    if directory in _ONE_PROCESS:
        return directory
    return nodeid.partition("::")[0] if directory in _ONE_FILE else nodeid


def _directory(nodeid: str) -> str:
    """Return the directory below tests/ that holds the test's file."""
    return nodeid.removeprefix("tests/").partition("/")[0]


def _rank(item: pytest.Item) -> int:
    directory = _directory(item.nodeid)
    return _LONGEST_FIRST.index(directory) if directory in _LONGEST_FIRST else 0


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give the tests of a node more time."""
    if item.get_closest_marker("node"):
        item.add_marker(pytest.mark.timeout(_NODE_SECONDS))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""
    items.sort(key=_rank)


def unfinished(workload: Work) -> tuple[str | None, Work]:
    """Return the first test of a workload that did not end, and what is left after it."""
    tests = [test for unit in workload.values() for test, ended in unit.items() if not ended]
    if not tests:
        return None, {}
    left = {
        scope: {test: ended or test == tests[0] for test, ended in unit.items()}
        for scope, unit in workload.items()
    }
    return tests[0], {scope: unit for scope, unit in left.items() if not all(unit.values())}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:  # noqa: ANN401
    """Divide by `scope_of`. `--dist loadgroup` of xdist 3.8 ignores its marks under pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

        def remove_node(self, node: Any) -> str | None:  # noqa: ANN401
            """Give the rest of a process that ended to the others; return the test it died in.

            xdist 3.8 gives out again what is done, which no process ever reports, so that the run
            waits for ever, and the test that the process died in, which ends the next one, too.
            """
            crashed, left = unfinished(self.assigned_work.pop(node))
            self.workqueue.update(left)
            for other in self.assigned_work:
                self._reschedule(other)
            return crashed

    config.option.loadscopereorder = False
    return Scheduling(config, log)
