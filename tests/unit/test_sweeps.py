"""A part of the sweeps: each case is in one of them."""

from __future__ import annotations

from sweeps import is_chosen

NAMES = [f"tests/seeds/test_ordinary.py::test_case[{number}]" for number in range(300)]


def test_each_case_is_in_one_part() -> None:
    parts = [{name for name in NAMES if is_chosen(name, f"{place}/3")} for place in range(3)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == len(NAMES)
    assert all(60 < len(part) < 140 for part in parts)


def test_the_part_of_a_commit_is_one_of_them() -> None:
    assert [is_chosen(NAMES[0], f"{place}/3") for place in (0, 3, 6)].count(True) in {0, 3}
