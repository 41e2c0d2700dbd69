"""Numbers of inputs at which what is computed of them equals a constant of the file."""

from __future__ import annotations

from typing import Any

import onnx.parser
import pytest

from modelexport_exporter.verification.samples.inverted_constants import (
    _Tracing,
    inverted_constants,
)


def found(nodes: str, kind: str = "float[n,4]", bases: tuple[float, ...] = ()) -> object:
    graph = onnx.parser.parse_graph(f"net ({kind} x) => (bool[n] y) {{ {nodes} }}")
    return inverted_constants(graph, bases).get("x", {})


CASES: list[tuple[str, object]] = [
    ("c = Constant <value = float {3}> () y = Less(x, c)", {None: (3.0,)}),
    ("c = Constant <value = float {3}> () a = Abs(x) y = Less(a, c)", {None: (0.0, 3.0, -3.0)}),
    (
        """c = Constant <value = float {100}> () k = Constant <value = float {2}> ()
        s = Constant <value = float {32}> () m = Mul(x, k) a = Add(m, s) y = Greater(a, c)""",
        {None: (34.0,)},
    ),
    ("c = Constant <value = float {0.5}> () s = Sigmoid(x) y = Less(s, c)", {None: (0.0,)}),
    (
        """c = Constant <value = float {7}> () i = Constant <value = int64 {2}> ()
        g = Gather <axis = 1> (x, i) y = Equal(g, c)""",
        {2: (7.0,)},
    ),
    (
        """c = Constant <value = float {7}> () i = Constant <value = int64 {2}> ()
        t = Transpose <perm = [1, 0]> (x) g = Gather <axis = 1> (t, i) y = Equal(g, c)""",
        {None: (7.0,)},
    ),
    (
        """c = Constant <value = float {-8}> () k = Constant <value = float {2.5}> ()
        p = Pow(x, k) y = Less(p, c)""",
        {},
    ),
    ("c = Constant <value = float {-1}> () s = Sqrt(x) l = Exp(s) y = Less(l, c)", {}),
]


CASES += [
    (
        """k = Constant <value = float {0.02}> () o = Constant <value = float {1}> ()
        m = Mul(x, k) s = Sub(m, o) y = Relu(s)""",
        {None: (pytest.approx(50.0),)},
    ),
    (
        """k = Constant <value = float {4}> () o = Constant <value = float {3}> ()
        a = Add(x, k) n = Neg(a) y = LessOrEqual(n, o)""",
        {None: (-7.0,)},
    ),
    (
        """a = Constant <value = float {-2}> () b = Constant <value = float {5}> ()
        i = Constant <value = int64[1] {0}> () u = Unsqueeze(x, i) y = Clip(u, a, b)""",
        {None: (-2.0, 5.0)},
    ),
]


@pytest.mark.parametrize(("nodes", "expected"), CASES)
def test_floats(nodes: str, expected: object) -> None:
    assert found(nodes) == expected


def test_minute_of_the_day_near_the_declared_range() -> None:
    nodes = """d = Constant <value = int64 {86400}> () m = Constant <value = int64 {60}> ()
    c = Constant <value = int64 {1320}> () s = Mod(x, d) q = Div(s, m) y = GreaterOrEqual(q, c)"""
    numbers = found(nodes, "int64[n]", (1_650_000_000.0,))
    assert isinstance(numbers, dict)
    days = 1_650_000_000 // 86_400 * 86_400
    assert {1320 * 60, 1320 * 60 + 59, days + 1320 * 60, days + 1320 * 60 + 59} <= {*numbers[None]}


def test_high_bits() -> None:
    nodes = """k = Constant <value = uint64 {16}> () c = Constant <value = uint64 {200}> ()
    b = BitShift <direction = "RIGHT"> (x, k) y = Less(b, c)"""
    assert found(nodes, "uint64[n]") == {None: (200 << 16, (201 << 16) - 1)}


def test_quotient_of_two_inputs() -> None:
    nodes = "c = Constant <value = float {0.5}> () q = Div(x, x) y = Less(q, c)"
    assert found(nodes) == {None: (0.5, 1.0, 2.0, 50.0, 4, 100)}


def test_a_node_with_many_paths_to_an_input_is_undone_once(monkeypatch: pytest.MonkeyPatch) -> None:
    undone = 0
    undo = _Tracing._undone

    def counted(*arguments: Any) -> Any:  # noqa: ANN401
        nonlocal undone
        undone += 1
        return undo(*arguments)

    monkeypatch.setattr(_Tracing, "_undone", counted)
    joins = " ".join(f"m{n + 1} = Max(m{n}, m{n})" for n in range(20))
    nodes = f"c = Constant <value = float {{3}}> () m0 = Identity(x) {joins} y = Less(m20, c)"
    assert found(nodes) == {None: (3.0,)}
    assert undone == 21
