"""Which loops are written as functions, and that what Python counts stays as it was."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from modelexport_exporter.convert.size_loops import NAMES, source

STEPS = """
def f(rows, n, seen=()):
    total, out, table = 0, [], {"last": None}
    grid = [[0] * 2 for _ in range(n)]
    for i in range(n):
        total += i
        out.append(total)
        grid[i][0] = i
        table["last"] = i
    for place, (one, other) in enumerate(zip(rows, reversed(rows)), start=1):
        last = one - other
        for j in range(place):
            last = last + j
        out += [last]
    for row in rows:
        if row > 2:
            break
    pairs = tuple(a * b for a, b in zip(rows, out))
    return total, out, grid, table, last, place, pairs, row
"""
KEPT = [
    "def f(x):\n    for i in x:\n        return i",
    "def f(x):\n    for i in x:\n        break",
    "def f(x):\n    for i in x:\n        continue",
    "def f(x):\n    for i in x:\n        pass\n    else:\n        g()",
    "def f(x):\n    for i in x:\n        yield i",
    "def f(x):\n    for i in x:\n        super().g(i)",
    "def f(x):\n    for i in x:\n        self.seen.append(i)",
    "def f(x):\n    for i in x:\n        del x[i]",
    "def f(x):\n    global y\n    for i in x:\n        y = i",
    "def f(x):\n    return [y for z in x for y in z]",
    "def f(x):\n    return [y for y in x if y]",
    "def f(x):\n    return [(z := y) for y in x]",
    "def f(x):\n    return [y for y, _, _ in x]",
    "def f(x):\n    return sum(y for y in x)",
    "def f(x):\n    return x.unbind(1)",
]


def run(code: str) -> Any:  # noqa: ANN401
    names = dict(NAMES)
    exec(compile(code, "<code>", "exec"), names)
    return names["f"]([1, 2, 5, 3], 4)


def test_a_loop_that_python_can_count_is_as_before() -> None:
    tree = ast.parse(STEPS)
    assert source.with_loops(tree) == {("f", 2)}
    assert source.LOOP in ast.unparse(tree)
    assert run(ast.unparse(tree)) == run(STEPS)


@pytest.mark.parametrize("code", KEPT)
def test_what_cannot_be_a_function_stays(code: str) -> None:
    tree = ast.parse(code)
    source.with_loops(tree)
    assert source.LOOP not in ast.unparse(tree)
    assert source.LISTED not in ast.unparse(tree)


def test_loops_in_loops_are_written_in_a_time_that_does_not_explode() -> None:
    lines = [f"{'    ' * depth}for i{depth} in range(2):" for depth in range(1, 6)]
    tree = ast.parse("\n".join(["def f(x):", *lines, "    " * 6 + "x = x + 1"]))
    source.with_loops(tree)
    assert sum(isinstance(node, ast.For) for node in ast.walk(tree)) == 2**5 - 1


def test_a_line_of_the_body_keeps_its_number() -> None:
    tree = ast.parse("def f(x):\n    y = 0\n    for i in x:\n        y = y + g(i)\n    return y")
    source.with_loops(tree)
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n) == "g(i)"]
    assert len(calls) == 2
    assert {call.lineno for call in calls} == {4}
