"""Which source is changed, and that what Python decides stays as it was."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.convert.size_choices import source
from modelexport_exporter.convert.size_choices.functions import NAMES

PADDED = """
def f(n, m, seen=[]):
    seen = list(seen)
    rest = n % 4 != 0 or m % 2 == 1
    padding = 4 - n % 4 if n % 4 else 0
    if rest:
        n += padding
        seen = [*seen, n]
    if not rest and m > 2:
        m = m - 1
    elif n < m <= 9:
        m = 7
    else:
        last = m
    return n, m, seen, rest, locals().get("last")
"""
KEPT = [
    "def f(n):\n    if n > 2:\n        return n\n    return 0",
    "def f(n):\n    if n > 2:\n        self.n = n",
    "def f(n):\n    if n > 2:\n        print(n)\n    else:\n        g()",
    "def f(n):\n    if n > 2:\n        send.warning(n)",
    "def f(n):\n    if (m := n) > 2:\n        n = m",
    "def f(n):\n    global m\n    if n > 2:\n        m = n",
    "def f(n):\n    while n > 2:\n        n -= 1",
    "class C:\n    x = 1 if y else 2",
    "f = lambda n: 1 if n else 2",
]


def changed(text: str) -> tuple[str, set[tuple[str, int]]]:
    tree = ast.parse(text)
    functions = source.with_choices(tree)
    return ast.unparse(tree), functions


def function_of(text: str) -> Callable[..., Any]:
    scope = dict(NAMES)
    exec(text, scope)
    found: Callable[..., Any] = scope["f"]
    return found


@given(st.integers(0, 12), st.integers(0, 12))
def test_of_numbers_it_does_what_it_did(n: int, m: int) -> None:
    text, functions = changed(PADDED)
    assert functions == {("f", 2)}
    expected = function_of(PADDED)(n, m)
    found = function_of(text)(n, m)
    assert found[:-1] == expected[:-1]
    assert found[-1] == expected[-1]


@pytest.mark.parametrize("text", KEPT)
def test_what_does_more_than_to_assign_is_left_alone(text: str) -> None:
    assert changed(text) == (ast.unparse(ast.parse(text)), set())


@pytest.mark.parametrize(
    "call", ["print(n)", "warnings.warn('n')", "logger.info(n)", "self.logger.warning(n)"]
)
def test_what_only_speaks_is_left_out_where_it_depends_on_values(call: str) -> None:
    text, functions = changed(f"def f(n):\n    if n > 2:\n        {call}\n    return n")
    assert functions == {("f", 1)}
    assert f"if {source.SPEAKS}(n > 2):" in text
    ask = NAMES[source.SPEAKS]
    assert ask(torch.tensor(True)) is False
    assert ask(True) is True


def test_lines_stay_those_of_the_file() -> None:
    text = "def f(n):\n    if n:\n        n = 1 / 0\n    return n"
    tree = ast.parse(text)
    source.with_choices(tree)
    scope: dict[str, Any] = dict(NAMES)
    exec(compile(tree, "model.py", "exec"), scope)
    with pytest.raises(ZeroDivisionError) as caught:
        scope["f"](1)
    assert caught.traceback[-1].lineno == 2  # from 0


ELEMENTS = """
def f(n, m, seen=None):
    pads = [0, 0, n]
    alias = pads
    for place in range(2):
        if n % 3 != m % 2:
            pads[place] = n - m
            pads[-1] += place
        else:
            pads[place] = 4
    if n > 6:
        pads[m % 3] = 7
    if n > 3:
        other = {}
        other["n"] = n
        pads[0] = other["n"]
    return pads, alias is pads, alias
"""


@given(st.integers(0, 12), st.integers(0, 12))
def test_elements_of_lists_are_assigned_in_place(n: int, m: int) -> None:
    text, functions = changed(ELEMENTS)
    assert functions == {("f", 2)}
    assert function_of(text)(n, m) == function_of(ELEMENTS)(n, m)


INNER = """
def f(n, m):
    last = 0
    def later():
        return last
    if n > 2:
        last = m
    return later()
"""


@pytest.mark.parametrize(("n", "expected"), [(1, 0), (3, 7)])
def test_variables_of_inner_functions_are_kept(n: int, expected: int) -> None:
    text, _ = changed(INNER)
    assert ".keeps(['last'], locals())" in text
    assert function_of(text)(n, 7) == function_of(INNER)(n, 7) == expected


def test_operators_are_pythons() -> None:
    assert NAMES[source.OPERATOR] is operator
