"""Each run has a share of the cases of a long test."""

from __future__ import annotations

from pathlib import Path

import pytest

from shares import ONE_IN, at_night


@pytest.mark.parametrize(
    ("test", "kept"),
    [
        ("tests/seeds/test_api.py::test_case", [0, 6]),
        ("tests/mutants/test_mutants.py::test_caught", [0, 5]),
        ("tests/exporter/workers/test_verify.py::test_a_kill", [0, 2, 4, 6]),
        ("tests/unit/api/test_spec.py::test_a", list(range(7))),
    ],
)
def test_cases_of_a_share_run(test: str, kept: list[int]) -> None:
    cases = [f"{test}[{place}-x[0]]" for place in range(7)]
    assert at_night(cases) == {case for place, case in enumerate(cases) if place not in kept}


def test_tests_without_cases_run_always() -> None:
    tests = [f"tests/seeds/test_api.py::test_{name}" for name in "abc"]
    assert not at_night(tests)


def test_each_test_has_its_own_share() -> None:
    assert not at_night(["tests/seeds/test_a.py::test_a[1]", "tests/seeds/test_a.py::test_b[1]"])


def test_the_directories_exist() -> None:
    root = Path(__file__).parents[2]
    assert [place for place in ONE_IN if not (root / place).exists()] == []
