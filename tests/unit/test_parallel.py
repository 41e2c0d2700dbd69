"""Tests that share a node or an expensive set-up run in one process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from parallel import scope_of, unfinished


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


def test_the_test_that_a_process_died_in_is_not_repeated() -> None:
    workload = {"a": {"a1": True}, "b": {"b1": True, "b2": False, "b3": False}, "c": {"c1": False}}
    crashed, left = unfinished(workload)
    assert crashed == "b2"
    assert left == {"b": {"b1": True, "b2": True, "b3": False}, "c": {"c1": False}}


def test_nothing_is_left_of_a_process_that_ended_its_work() -> None:
    assert unfinished({"a": {"a1": True}}) == (None, {})


def test_a_process_that_dies_costs_one_test(tmp_path: Path) -> None:
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "test_it.py").write_text(
        "import os, pytest\n"
        "@pytest.mark.parametrize('n', range(60))\n"
        "def test_it(n): n == 25 and os.abort()\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "parallel", "-n", "2", "--rootdir", "."]
    ended = subprocess.run(
        [*command, "-c", "/dev/null", "seeds"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert "1 failed, 59 passed" in ended.stdout
