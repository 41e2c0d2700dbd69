"""What was once published wrong in silence because of values, by class, in small models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seeds.case import Case, array, integers, tensor
from seeds.harness import Bench, each
from seeds.silent_cases import ANY_REFUSAL, X, feed, silent

NAN, INF = float("nan"), float("inf")
DAY = 86_400
LARGE = [2**24 + 1, 2**31 + 1, 2**53 + 1, -(2**24) - 1, 19_000 * DAY - 1, 20_000 * DAY - 1, 0, -1]


def values(row: str, name: str, model: str, *inputs: Any, **options: Any) -> Case:  # noqa: ANN401
    return silent(row, name, f"silent_values:{model}", *inputs, **options)


DOUBLE = tensor("x", "n", 4, dtype="float64")
TIME = tensor("t", "n", dtype="float64", low=1.6e12, high=1.8e12)
LONG = integers("t", "n", low=-(2**62), high=2**62)

CASES = (
    values("S1", "double_beside_float", "DoubleBesideFloat", X, TIME, rtol=1e-13),
    values(
        "S1", "half_table_beside_float", "HalfTableBesideFloat", integers("ids", "n", high=15), X
    ),
    values("S9", "integers_without_range", "IntegersWithoutRange", tensor("t", "n", dtype="int64")),
    values("S2", "rounded_to_single", "RoundedToSingle", LONG, rtol=1e-13),
    values("S1", "half_on_one_side", "HalfOnOneSide", DOUBLE, rtol=1e-3),
    values("S1", "price_and_complement", "PriceAndComplement", tensor("x", "n")),
    values("S2", "double_constants", "DoubleConstants", DOUBLE, rtol=1e-12),
    values("S2", "double_remainder", "DoubleRemainder", DOUBLE, rtol=1e-12),
    values("S2", "double_quantile", "DoubleQuantile", DOUBLE, rtol=1e-12),
    values(
        "S2",
        "double_constants_script",
        "DoubleConstants",
        DOUBLE,
        rtol=1e-12,
        export={"exporter": "TorchScript"},
        or_refused=ANY_REFUSAL,
    ),
    values(
        "S3",
        "integer_divisions",
        "IntegerDivisions",
        LONG,
        feeds=[feed(*LARGE, dtype="int64", name="t")],
    ),
    values(
        "S3",
        "integer_divisions_int32",
        "IntegerDivisions",
        integers("t", "n", low=-(2**31), high=2**31 - 1, dtype="int32"),
        feeds=[feed(2**24 + 1, 2**31 - 1, -(2**31), DAY * 20_000 - 1, dtype="int32", name="t")],
    ),
    values(
        "S3",
        "integer_division_of_tensors",
        "IntegerDivisionOfTensors",
        LONG,
        integers("by", "n", low=1, high=2**40),
        feeds=[
            {
                "t": array(LARGE, dtype="int64"),
                "by": array([1, 3, 7, 2, DAY, DAY, 5, 3], dtype="int64"),
            }
        ],
    ),
    values(
        "S3",
        "integer_reductions",
        "IntegerReductions",
        integers("x", "n", 4, low=-(2**31), high=2**31),
        feeds=[
            feed(
                [2**31, 2**31, 2**31, 3],
                [2**24 + 1, 2**24 + 1, 3, 1],
                [-3, 5, 0, 2**31 - 1],
                dtype="int64",
            )
        ],
        or_refused=ANY_REFUSAL,
    ),
    values(
        "S3",
        "integer_matmul",
        "IntegerMatmul",
        integers("x", "n", 4, low=-(2**30), high=2**30),
        integers("y", 4, 3, low=-(2**30), high=2**30),
    ),
    values(
        "S4",
        "repairs_and_counts",
        "RepairsAndCounts",
        feeds=[feed([NAN, 1, INF, -INF], [1, NAN, NAN, 0])],
    ),
    values(
        "S4",
        "ranks_with_nan",
        "RanksWithNan",
        feeds=[feed([NAN, 1, 3, 2], [1, NAN, 2, 0])],
        or_refused=ANY_REFUSAL,
    ),
    values(
        "S4",
        "largest_with_nan",
        "LargestWithNan",
        feeds=[feed([NAN, 1, 3, 2], [1, NAN, 2, 0], [1, 2, 3, NAN])],
        or_refused=ANY_REFUSAL,
    ),
    values(
        "S5",
        "over_threshold",
        "OverThreshold",
        feeds=[feed([9, 50, -50, 9], [60, -60, 60, -60], [-60, 60, -60, 60])],
        or_refused=ANY_REFUSAL,
    ),
    values(
        "S7",
        "pools_at_end",
        "PoolsAtEnd",
        integers("ids", "n", 9, high=49_999),
        feeds=[
            {
                "ids": array(
                    [[1, 2, 49407, 5, 6, 7, 8, 9, 10], [49406, 49408, 3, 4, 5, 49407, 6, 49407, 8]],
                    dtype="int64",
                )
            }
        ],
    ),
    values(
        "S7",
        "rules",
        "Rules",
        integers("x", "n", 2, high=249),
        feeds=[feed([117, 3], [117, 4], [3, 117], dtype="int64")],
    ),
    values(
        "S7",
        "buckets",
        "Buckets",
        tensor("x", "n", low=0, high=150),
        feeds=[feed(0.5, 18.0, 35.5, 65.0, 120.0, 17.999)],
    ),
    values(
        "S8",
        "silence",
        "Silence",
        tensor("x", "n", low=-100, high=0),
        feeds=[feed(-100, -60, -18.5, -18, -17, 0)],
        or_refused=ANY_REFUSAL,
    ),
    values(
        "S8",
        "narrow_band",
        "NarrowBand",
        tensor("x", "n", low=-1000, high=1000),
        feeds=[feed(2.25, 2.75, 2.5, 2.1)],
    ),
    values(
        "S9",
        "halves_ids",
        "HalvesIds",
        tensor("ids", "n", dtype="int64"),
        feeds=[feed(0, 1, 2, 3, 1000, -5, dtype="int64", name="ids")],
    ),
    values(
        "S9",
        "embeds_ids",
        "EmbedsIds",
        tensor("ids", "n", dtype="int64"),
        feeds=[feed(0, 1, 2, 3, 299, dtype="int64", name="ids")],
    ),
    values(
        "S10",
        "log_sum_exp",
        "LogSumExp",
        feeds=[feed([-1, 1, 2, 3], [-1, -2, -3, -4], [1, -1, 2, -1])],
        or_refused=ANY_REFUSAL,
    ),
    values(
        "S10",
        "signs_of_large_integers",
        "SignsOfLargeIntegers",
        integers("x", "n", low=0, high=2**40),
        feeds=[feed(0, 2**31, 2**33, 3_000_000_000, dtype="int64")],
    ),
    values(
        "S10",
        "log_of_sigmoid",
        "LogOfSigmoid",
        tensor("x", "n", low=-120, high=120),
        feeds=[feed(-120, -90, -60, -20, -18, 0, 20)],
        or_refused=ANY_REFUSAL,
    ),
    values(
        "S10",
        "samples_at_ties",
        "SamplesAtTies",
        tensor("x", 1, 1, 4, 4),
        tensor("g", 1, 3, 3, 2, low=-1, high=1),
        feeds=[
            {
                "x": np.arange(16, dtype="f4").reshape(1, 1, 4, 4),
                "g": np.array(
                    [
                        -1,
                        -0.75,
                        -0.5,
                        -0.25,
                        0,
                        0.25,
                        0.5,
                        0.75,
                        1,
                        -1,
                        -0.5,
                        0.5,
                        0,
                        0,
                        0.25,
                        0.25,
                        1,
                        1,
                    ],
                    dtype="f4",
                ).reshape(1, 3, 3, 2),
            }
        ],
        or_refused=ANY_REFUSAL,
    ),
    values(
        "S10",
        "best_of_no_rows",
        "BestOfNoRows",
        feeds=[feed([-1, 1, 1, 1])],
        or_refused=ANY_REFUSAL,
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_silent(case: Case, bench: Bench) -> None:
    bench.check(case)
