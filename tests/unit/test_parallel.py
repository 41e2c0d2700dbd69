"""Tests that share a node or an expensive set-up run in one process."""

from __future__ import annotations

import pytest

from parallel import scope_of


@pytest.mark.parametrize(
    ("nodeid", "scope"),
    [
        ("tests/e2e/test_bed.py::test_a", "e2e"),
        ("tests/e2e/test_verified.py::test_b[x/y]", "e2e"),
        ("tests/cluster/operator/test_load.py::test_c", "cluster"),
        ("tests/unit/api/test_crds.py::test_d", "tests/unit/api/test_crds.py"),
        ("tests/seeds/test_api.py::test_e[a::b]", "tests/seeds/test_api.py::test_e[a::b]"),
    ],
)
def test_a_process_runs_all_tests_of_a_scope(nodeid: str, scope: str) -> None:
    assert scope_of(nodeid) == scope


def test_only_tests_of_one_process_need_the_node(request: pytest.FixtureRequest) -> None:
    items = [item for item in request.session.items if item.get_closest_marker("node")]
    assert {scope_of(item.nodeid) for item in items} <= {"e2e"}
