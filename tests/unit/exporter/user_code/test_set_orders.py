"""Sets of the user's code in the opposite order."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from modelexport_exporter.user_code import set_orders

NAMES = "NAMES = {'left', 'right', 'front'}\n"
FOLLOWING = {
    "a loop": "found = []\nfor one in NAMES:\n    found.append(one)",
    "a comprehension": "found = [one for one in NAMES]",
    "a generator": "found = list(one for one in NAMES)",
    "a dict of it": "found = list({one: 1 for one in NAMES})",
    "list": "found = list(NAMES)",
    "an operator": "found = [*(NAMES - {'front'})]",
    "enumerate": "found = [one for _, one in enumerate(NAMES)]",
    "unpacking": "found = [None] * 3\nfound[0], found[1], found[2] = NAMES",
    "a method": "found = list(' '.join(NAMES))",
    "pop": "found = [NAMES.copy().pop()]",
    "a frozen set": "found = list(frozenset(NAMES))",
    "tuples with strings": "found = list({(1, 'a'), (2, 'b')})",
    "yield from": "def f():\n    yield from NAMES\nfound = list(f())",
    "the first": "found = [next(iter(NAMES))]",
    "equal keys": "found = sorted({'ab', 'cd'}, key=len)",
}
NOT_FOLLOWING = {
    "sorted": "found = sorted(NAMES)",
    "a list": "found = [one for one in ['b', 'a']]",
    "numbers": "found = list({3, 1, 2})",
    "tuples of numbers": "found = list({(3, 1), (1, 2)})",
    "one": "found = list({'alone'})",
    "members": "found = ['left' in NAMES, len(NAMES)]",
    "a list's pop": "found = [[1, 2].pop()]",
    "a dict's pop": "found = [{'a': 1}.pop('a')]",
}


@pytest.fixture(autouse=True)
def imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Import from a directory of its own, and leave no finder behind."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(set_orders, "_STATE", set_orders._State())
    set_orders.watch(None, tmp_path)
    yield
    sys.modules.pop("of_user", None)


def both(directory: Path, code: str) -> tuple[object, object]:
    """Return what the code finds, and what it finds with its sets in the opposite order."""
    (directory / "of_user.py").write_text(NAMES + code)
    importlib.invalidate_caches()
    own = importlib.import_module("of_user")
    with set_orders.opposite():
        other = importlib.import_module("of_user")
    assert importlib.import_module("of_user") is own
    return own.found, other.found


@pytest.mark.parametrize("code", FOLLOWING.values(), ids=FOLLOWING)
def test_what_follows_the_order_of_a_set_differs(tmp_path: Path, code: str) -> None:
    found, other = both(tmp_path, code)

    assert found != other
    assert set_orders.lines_seen(tmp_path)


@pytest.mark.parametrize("code", NOT_FOLLOWING.values(), ids=NOT_FOLLOWING)
def test_what_does_not_is_the_same(tmp_path: Path, code: str) -> None:
    found, other = both(tmp_path, code)

    assert found == other


def test_the_line_is_named(tmp_path: Path) -> None:
    both(tmp_path, "def f():\n    return 1\n\nfound = [\n    one for one in NAMES\n]\n")

    assert set_orders.lines_seen(tmp_path) == ("of_user.py:6",)


def test_a_file_that_is_no_code_raises_as_python_does(tmp_path: Path) -> None:
    (tmp_path / "of_user.py").write_text("def f(:\n")

    with pytest.raises(SyntaxError) as raised:
        importlib.import_module("of_user")

    assert raised.value.lineno == 1


def test_libraries_are_left_alone(tmp_path: Path) -> None:
    set_orders.watch(None, tmp_path)

    import colorsys

    loader = importlib.reload(colorsys).__loader__
    assert type(loader) is SourceFileLoader


def test_a_function_runs_with_other_globals(tmp_path: Path) -> None:
    code = "from types import FunctionType\ndef f():\n    return list({'a', 'b', 'c'})\n"
    found, other = both(tmp_path, f"{code}found = FunctionType(f.__code__, {{}})()")

    assert found != other


def test_a_module_of_the_opposite_order_does_not_stay(tmp_path: Path) -> None:
    (tmp_path / "of_user.py").write_text(f"{NAMES}found = list(NAMES)")
    importlib.invalidate_caches()
    with set_orders.opposite():
        other = importlib.import_module("of_user").found

    assert importlib.import_module("of_user").found == other[::-1]
