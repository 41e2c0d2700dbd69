"""Operators that reduce, join, cut and rearrange."""

from __future__ import annotations

import pytest

from seeds.case import Case, array, integers, tensor
from seeds.harness import Bench, each

ROWS = {"n": (1, 40)}
TWO = {"n": (1, 24), "m": (1, 30)}
X = tensor("x", "n", 4)
CUBE = tensor("x", "n", 3, 5)
FACTORS = tensor("x", "n", 3, 5, low=-1.5, high=1.5)
COUNTS = integers("count", "n", 3, 5, low=-4, high=4)
FLAGS = tensor("flag", "n", 3, 5, dtype="bool")
IMAGE = tensor("x", "n", 3, 6, 7)

CASES = (
    Case(
        "A6", "cat", "shaping:Cat", (X, tensor("y", "m", 4), integers("count", "n", 2, high=9)), TWO
    ),
    Case(
        "A7",
        "matmul",
        "reductions:MatMul",
        (X, tensor("y", 4, 6), tensor("batch", "b", "n", 4)),
        {"n": (1, 30), "b": (1, 9)},
    ),
    Case(
        "A8",
        "addmm",
        "reductions:AddMM",
        (tensor("bias", 6), X, tensor("y", 4, 6), tensor("full", "n", 6)),
        ROWS,
    ),
    Case("A7 A8", "linear", "reductions:Linear", (X,), ROWS),
    Case("A15", "mean", "reductions:Mean", (CUBE, FLAGS), {"n": (2, 40)}),
    Case(
        "A15 A16",
        "long_reductions",
        "reductions:LongReductions",
        (tensor("x", "n", low=0, high=1),),
        {"n": (2, 60000)},
    ),
    Case("A16", "sum", "reductions:Sum", (CUBE, COUNTS, FLAGS), ROWS),
    Case("A17", "prod", "reductions:Prod", (FACTORS, COUNTS, FLAGS), {"n": (1, 12)}),
    Case("A17", "cumprod", "reductions:CumProd", (CUBE, COUNTS), {"n": (1, 12)}),
    Case("A38 A39", "maximum", "reductions:Maximum", (CUBE, tensor("y", "n", 3, 5), COUNTS), ROWS),
    Case("A38 A39", "extremes", "reductions:Extremes", (CUBE,), ROWS, edges=()),
    Case("A40", "all_any", "reductions:AllAny", (FLAGS, COUNTS), ROWS),
    Case("A18 A19 A20", "transposes", "shaping:Transposes", (X, tensor("cube", "n", 3, "m")), TWO),
    Case("A21", "expand", "shaping:Expand", (tensor("row", 1, 4), X), ROWS),
    Case("A22", "view", "shaping:View", (tensor("x", "n", 6, 4),), ROWS),
    Case(
        "A22",
        "view_of_nothing",
        "shaping:ViewOfNothing",
        (tensor("x", "n", 6, 4),),
        {"n": (0, 8)},
    ),
    Case("A23", "split", "shaping:Split", (tensor("x", "n", 2, 3), tensor("wide", "n", 7)), ROWS),
    Case("A23", "split_of_dynamic", "shaping:SplitOfDynamic", (X,), {"n": (2, 40)}),
    Case("A24", "squeeze", "shaping:Squeeze", (tensor("x", "n", 1, 3, 1),), ROWS),
    Case(
        "A24",
        "squeeze_all",
        "shaping:SqueezeAll",
        (tensor("x", "n", 1, 3, 1),),
        {"n": (2, 40)},
        nightly=True,
    ),
    Case(
        "A24", "squeeze_all_static", "shaping:SqueezeAll", (tensor("x", 1, 3, 1, 1),), nightly=True
    ),
    Case("A32", "unfold", "shaping:Unfold", (tensor("x", "n", 3, 11),), ROWS, nightly=True),
    Case("A32", "unfold_dynamic", "shaping:UnfoldDynamic", (tensor("x", 2, "m"),), {"m": (4, 40)}),
    Case("A32", "im2col", "shaping:Im2Col", (IMAGE,), ROWS),
    Case("A32", "col2im", "shaping:Col2Im", (IMAGE,), ROWS, nightly=True),
    Case(
        "A35",
        "index_select",
        "shaping:IndexSelect",
        (tensor("x", "n", 3, 5), integers("places", 4, high=2)),
        ROWS,
    ),
    Case(
        "A50",
        "constant_pad",
        "shaping:ConstantPad",
        (IMAGE, integers("count", "n", 4, high=9)),
        ROWS,
    ),
    Case("A50", "other_pads", "shaping:OtherPads", (IMAGE,), ROWS),
    Case("A20 A53", "flip_and_roll", "shaping:Flip", (CUBE,), ROWS),
)

OPSETS = tuple(
    Case(
        rows,
        f"{name.lower()}_opset_{opset}",
        f"{module}:{name}",
        inputs,
        dims,
        export={"opset": opset},
        nightly=opset != 11,
    )
    for opset, rows, module, name, inputs, dims in (
        (
            9,
            "A8 A7",
            "reductions",
            "AddMM",
            (tensor("bias", 6), X, tensor("y", 4, 6), tensor("full", "n", 6)),
            ROWS,
        ),
        (11, "A23", "shaping", "Split", (tensor("x", "n", 2, 3), tensor("wide", "n", 7)), ROWS),
        (13, "A16", "reductions", "Sum", (CUBE, COUNTS, FLAGS), ROWS),
        (16, "A24", "shaping", "Squeeze", (tensor("x", "n", 1, 3, 1),), ROWS),
        (21, "A50", "shaping", "ConstantPad", (IMAGE, integers("count", "n", 4, high=9)), ROWS),
        (23, "A22", "shaping", "View", (tensor("x", "n", 6, 4),), ROWS),
    )
)

SMALL = (
    Case(
        "A38 A39",
        "maximum_of_ties",
        "reductions:Maximum",
        (CUBE, tensor("y", "n", 3, 5), COUNTS),
        ROWS,
        nightly=True,
        feeds=(
            {
                "x": array([[[1.0] * 5] * 3] * 4),
                "y": array([[[1.0] * 5] * 3] * 4),
                "count": array([[[2] * 5] * 3] * 4, dtype="int64"),
            },
        ),
    ),
)


@pytest.mark.parametrize("case", each((*CASES, *OPSETS, *SMALL)))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
