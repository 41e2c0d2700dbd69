"""Reads and writes by index: operators, and the patterns that were once not supported."""

from __future__ import annotations

import pytest

from seeds.case import Case, array, integers, tensor
from seeds.harness import Bench, each

ROWS = {"n": (1, 12)}
X = tensor("x", "n", 3, 5)
DATA = tensor("x", 3, 4, 5)
FOUR = tensor("x", "n", 4, 5)
INDEX = "indexing:"

CASES = (
    Case("A53", "read", INDEX + "Read", (X,), ROWS),
    Case("A53", "read_opset_11", INDEX + "Read", (X,), ROWS, export={"opset": 11}, nightly=True),
    Case(
        "A53",
        "read_by_input",
        INDEX + "ReadByInput",
        (tensor("x", 3, 3, "m"), integers("places", "k", high=2)),
        {"m": (3, 20), "k": (1, 7)},
    ),
    Case(
        "A35",
        "take_along",
        INDEX + "TakeAlong",
        (tensor("x", 3, 3, "m"), integers("places", "k", high=2)),
        {"m": (3, 20), "k": (1, 7)},
    ),
    Case("A53 D15", "read_by_mask", INDEX + "ReadByMask", (X,), ROWS),
    Case(
        "A53",
        "read_by_mask_of_rows",
        INDEX + "ReadByMaskOfRows",
        (X, tensor("flag", "n", dtype="bool")),
        ROWS,
    ),
    Case("D10", "negative_read", INDEX + "NegativeRead", (FOUR,), {"n": (3, 12)}),
    Case(
        "D10",
        "negative_read_traced",
        INDEX + "NegativeRead",
        (FOUR,),
        {"n": (3, 12)},
        export={"exporter": "TorchScript"},
    ),
    Case(
        "D10",
        "negative_read_by_input",
        INDEX + "NegativeReadByInput",
        (tensor("x", 4, 4, "m"), integers("places", 3, low=-4, high=3)),
        {"m": (1, 12)},
        feeds=({"x": array([[[1.0, 2.0]] * 4] * 4), "places": array([-4, -1, 3], dtype="int64")},),
        nightly=True,
    ),
    Case(
        "D11",
        "write_rank_two",
        INDEX + "WriteRankTwo",
        (DATA, tensor("new", 2, 2, 5)),
        nightly=True,
    ),
    Case(
        "D11",
        "write_rank_two_dynamic",
        INDEX + "WriteRankTwo",
        (FOUR, tensor("new", 2, 2, 5)),
        {"n": (3, 12)},
    ),
    Case(
        "D11",
        "write_rank_two_traced",
        INDEX + "WriteRankTwo",
        (FOUR, tensor("new", 2, 2, 5)),
        {"n": (3, 12)},
        export={"exporter": "TorchScript"},
        nightly=True,
    ),
    Case(
        "D11",
        "write_rank_two_by_put",
        INDEX + "WriteRankTwoByPut",
        (FOUR, tensor("new", 5), integers("places", 3, high=2)),
        {"n": (3, 12)},
    ),
    Case("D12", "write_apart", INDEX + "WriteApart", (FOUR, tensor("new", 2, 4)), {"n": (3, 12)}),
    Case(
        "D12",
        "write_apart_by_input",
        INDEX + "WriteApartByInput",
        (FOUR, tensor("new", 2, 4), integers("places", 3, high=2)),
        {"n": (3, 12)},
        feeds=(
            {
                "x": array([[[1.0] * 5] * 4] * 3),
                "new": array([[1.0] * 4, [2.0] * 4]),
                "places": array([0, 0, 1], dtype="int64"),
            },
        ),
    ),
    Case(
        "D13",
        "write_negative",
        INDEX + "WriteNegative",
        (FOUR, tensor("new", 2, 5)),
        {"n": (3, 12)},
    ),
    Case(
        "D13",
        "write_negative_traced",
        INDEX + "WriteNegative",
        (FOUR, tensor("new", 2, 5)),
        {"n": (3, 12)},
        export={"exporter": "TorchScript"},
        nightly=True,
    ),
    Case(
        "D13",
        "write_negative_by_input",
        INDEX + "WriteNegativeByInput",
        (tensor("x", 4, 4, 5), tensor("new", 5), integers("places", 3, low=-4, high=3)),
    ),
    Case(
        "D14", "write_broadcast", INDEX + "WriteBroadcast", (FOUR, tensor("new", 5)), {"n": (3, 12)}
    ),
    Case(
        "D14",
        "write_broadcast_static",
        INDEX + "WriteBroadcast",
        (DATA, tensor("new", 5)),
        nightly=True,
    ),
    Case(
        "D14",
        "write_broadcast_otherwise",
        INDEX + "WriteBroadcastOtherwise",
        (FOUR, tensor("new", 5), tensor("flag", "n", dtype="bool")),
        ROWS,
        nightly=True,
    ),
    Case("D15", "write_slices", INDEX + "WriteSlices", (FOUR, tensor("new", 5)), ROWS),
    Case(
        "D15",
        "write_dynamic_slice",
        INDEX + "WriteDynamicSlice",
        (FOUR,),
        {"n": (2, 12)},
        nightly=True,
    ),
    Case(
        "D15",
        "write_mask",
        INDEX + "WriteMask",
        (FOUR, tensor("flag", "n", 4, 5, dtype="bool")),
        ROWS,
    ),
    Case("D15", "write_input", INDEX + "WriteInput", (tensor("x", "n", 4),), ROWS),
    Case(
        "D15 A35",
        "write_scatter",
        INDEX + "WriteScatter",
        (tensor("x", 6, "m"), integers("places", 4, high=5)),
        {"m": (3, 12)},
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
