"""A `while` that only counts is a `for`; what it computes stays as it was."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from modelexport_exporter.convert.size_loops import NAMES, source

COUNTED = [
    "while t < n:\n  out.append(t)\n  t += 1",
    "while n > t:\n  out.append(t)\n  t += 2",
    "while t <= len(rows):\n  out.append(rows[t - 1])\n  t = t + 1",
    "while t < n // 2:\n  k = 0\n  while k < t:\n    out.append(k)\n    k += 1\n  t += 1",
    "while t < 2.5:\n  out.append(t)\n  t += 1",
]
KEPT = [
    "while t < n:\n  t += 1\n  out.append(t)",
    "while t < n:\n  n -= 1\n  t += 1",
    "while t < len(out) + 3 and t < n:\n  t += 1",
    "while t < len(out):\n  out.append(t)\n  t += 1",
    "while t < n:\n  if t > 2:\n    break\n  t += 1",
    "while t < n:\n  if t > 2:\n    t += 1\n  t += 1",
    "while t < next(numbers):\n  t += 1",
    "while t < n:\n  t += 1\nelse:\n  out.append(t)",
    "while t != n:\n  t += 1",
    "while t < n:\n  t += step",
    "while t < self.n:\n  self.n -= 1\n  t += 1",
]


def function(loop: str) -> str:
    lines = "".join(f"    {line}\n" for line in loop.splitlines())
    return f"def f(t, n, rows):\n    out = []\n{lines}    return t, out\n"


def run(code: str, *arguments: Any) -> Any:  # noqa: ANN401
    names = dict(NAMES)
    exec(compile(code, "<code>", "exec"), names)
    return names["f"](*arguments)


@pytest.mark.parametrize("loop", COUNTED)
def test_a_loop_that_counts(loop: str) -> None:
    tree = ast.parse(function(loop))
    assert source.with_loops(tree) == {("f", 1)}
    assert " for " in ast.unparse(tree)
    rows = [3, 1, 4, 1]
    for start, end in ((1, 4), (1, 1), (3, 2), (2, 9)):
        arguments = (start, end, rows)
        assert run(ast.unparse(tree), *arguments) == run(function(loop), *arguments)


@pytest.mark.parametrize("loop", KEPT)
def test_a_loop_that_does_more_is_left(loop: str) -> None:
    tree = ast.parse(function(loop))
    assert source.with_loops(tree) == set()
    assert ast.unparse(tree) == ast.unparse(ast.parse(function(loop)))
