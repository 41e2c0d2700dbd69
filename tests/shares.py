"""Of the cases of a long test, each run has a share; the nightly run has all.

Of a test function in a directory with the number 3, the first, fourth, seventh, … case run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

ONE_IN = {
    "tests/bad_input/": 3,
    "tests/browser/": 3,
    "tests/chaos/": 4,
    "tests/exporter/batch/": 3,
    "tests/exporter/blame/": 4,
    "tests/exporter/call/": 4,
    "tests/exporter/convert/test_by_size.py": 5,
    "tests/exporter/convert/test_by_value.py": 3,
    "tests/exporter/decompositions/": 3,
    "tests/exporter/pipeline/": 3,
    "tests/exporter/plugins/": 2,
    "tests/exporter/publish/": 3,
    "tests/exporter/python_api/": 2,
    "tests/exporter/verification/": 4,
    "tests/exporter/workers/": 2,
    "tests/fuzz/": 4,
    "tests/mutants/": 5,
    "tests/operators/": 2,
    "tests/recipes/": 5,
    "tests/refusals/": 3,
    "tests/seeds/": 6,
}


def at_night(nodeids: Iterable[str]) -> set[str]:
    """Return the tests that are left to the nightly run, of all in their order."""
    seen: Counter[str] = Counter()
    left = set()
    for nodeid in nodeids:
        test, _, case = nodeid.partition("[")
        share = _share(test) if case else 1
        if seen[test] % share:
            left.add(nodeid)
        seen[test] += 1
    return left


def _share(test: str) -> int:
    return next((share for place, share in ONE_IN.items() if test.startswith(place)), 1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is left to the night, unless tests were asked for by name."""
    by_name = config.option.keyword or any("::" in argument for argument in config.args)
    if by_name:
        return
    left = at_night(item.nodeid for item in items)
    for item in items:
        if item.nodeid in left:
            item.add_marker(pytest.mark.nightly)
