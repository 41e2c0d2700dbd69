"""Operators on numbers, element by element."""

from __future__ import annotations

import pytest

from seeds.case import EDGES, SPECIALS, Case, array, integers, tensor
from seeds.harness import Bench, each

X = tensor("x", "n", 4)
Y = tensor("y", "n", 4)
COUNT = integers("count", "n", 4, low=-5, high=6)
FLAG = tensor("flag", "n", 4, dtype="bool")
ROWS = {"n": (1, 40)}
ALL = (*EDGES, *SPECIALS)

FORMS = (
    Case("A1", "add", "pointwise:Add", (X, Y, tensor("column", "n", 1), COUNT), ROWS, edges=ALL),
    Case("A2", "add_scaled", "pointwise:AddScaled", (X, Y, COUNT), ROWS),
    Case("A3", "sub", "pointwise:Sub", (X, Y, COUNT), ROWS),
    Case("A4", "mul", "pointwise:Mul", (X, Y, COUNT, FLAG), ROWS),
    Case("A5", "div", "pointwise:Div", (X, Y, COUNT), ROWS),
    Case("A5", "remainder", "pointwise:Remainder", (X, COUNT), ROWS),
    Case("A9 A10 A11 A12 A13 A14", "unary", "pointwise:Unary", (X, COUNT), ROWS, edges=ALL[:19]),
    Case(
        "A10 A11 A13 A14 A57", "unary_of_integers", "pointwise:UnaryOfIntegers", (COUNT, FLAG), ROWS
    ),
    Case("A41", "trigonometry", "pointwise:Trigonometry", (X,), ROWS),
    Case("A42", "inverse_trigonometry", "pointwise:InverseTrigonometry", (X, Y), ROWS),
    Case("A41 A42", "hyperbolic", "pointwise:Hyperbolic", (X,), ROWS, nightly=True),
    Case("A54", "log_exp", "pointwise:LogExp", (X,), ROWS),
    Case("A36", "pow", "pointwise:Pow", (X, Y, COUNT), ROWS),
    Case(
        "A36",
        "pow_of_integers",
        "pointwise:PowOfIntegers",
        (COUNT, integers("small", "n", 4, high=4)),
        ROWS,
        nightly=True,
    ),
    Case("A37", "clamp", "pointwise:Clamp", (X, Y, COUNT), ROWS, edges=ALL[:19]),
    Case("A37 A57", "clamp_mixed", "pointwise:ClampMixed", (X, COUNT), ROWS),
    Case("A40", "compare", "pointwise:Compare", (X, Y, COUNT), ROWS, edges=ALL),
    Case(
        "A40",
        "compare_booleans",
        "pointwise:CompareBooleans",
        (FLAG, {**FLAG, "name": "other"}),
        ROWS,
        nightly=True,
    ),
    Case(
        "A57",
        "casting",
        "pointwise:Casting",
        (X, COUNT, FLAG, integers("small", "n", 4, low=-100, high=100, dtype="int8")),
        ROWS,
    ),
    Case(
        "A57",
        "casting_of_halves",
        "pointwise:CastingOfHalves",
        (tensor("half", "n", 4, dtype="float16"), X, tensor("double", "n", 4, dtype="float64")),
        ROWS,
    ),
    Case(
        "A1 A57",
        "doubles",
        "pointwise:Doubles",
        (tensor("x", "n", 4, dtype="float64"),),
        ROWS,
        rtol=1e-8,
        nightly=True,
    ),
)

OPSETS = tuple(
    Case(
        "A1 A3 A5 A37",
        f"arithmetic_opset_{opset}",
        f"pointwise:{name}",
        inputs,
        ROWS,
        export={"opset": opset},
        nightly=opset != 13,
    )
    for opset, name, inputs in (
        (9, "Sub", (X, Y, COUNT)),
        (11, "Clamp", (X, Y, COUNT)),
        (13, "Div", (X, Y, COUNT)),
        (16, "Casting", (X, COUNT, FLAG, integers("small", "n", 4, high=100, dtype="int8"))),
        (18, "Compare", (X, Y, COUNT)),
        (21, "Pow", (X, Y, COUNT)),
        (23, "Unary", (X, COUNT)),
    )
)

SHAPES = (
    Case(
        "A1 A2",
        "add_of_scalars_and_nothing",
        "pointwise:AddScaled",
        (tensor("x"), tensor("y"), integers("count", high=4)),
        feeds=({"x": array(1.5), "y": array(-2.0), "count": array(3, dtype="int64")},),
        nightly=True,
    ),
    Case(
        "A1 A2",
        "add_of_rank_5_and_size_0",
        "pointwise:AddScaled",
        (
            tensor("x", "n", 2, 1, "m", 3),
            tensor("y", "n", 1, 1, "m", 3),
            integers("count", "n", 2, 1, 1, 3, high=4),
        ),
        {"n": (0, 9), "m": (1, 9)},
    ),
)


@pytest.mark.parametrize("case", each((*FORMS, *OPSETS, *SHAPES)))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
