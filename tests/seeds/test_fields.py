"""Networks in the dtypes of their fields: each must be published, and right."""

from __future__ import annotations

import numpy as np
import pytest

from seeds.case import Case, integers, tensor
from seeds.harness import Bench, each

PICTURES = {"b": (1, 3), "h": (5, 14), "w": (5, 14)}
WORDS = {"b": (1, 3), "n": (1, 9)}
CASES = (
    Case(
        "R7", "fields_bfloat16_block", "fields:Bfloat16Block", (tensor("x", "b", "n", 16),), WORDS,
        edges=(), rtol=3e-2,
    ),
    Case(
        "R7", "fields_census", "fields:Census",
        (
            integers("left", "b", "h", "w", high=255, dtype="uint8"),
            integers("right", "b", "h", "w", high=255, dtype="uint8"),
        ),
        PICTURES,
    ),
    Case(
        "R7", "fields_runoff", "fields:Runoff", (tensor("x", "b", "n", 3, dtype="float64"),),
        {"b": (1, 3), "n": (2, 13)}, edges=(), rtol=1e-9,
    ),
    Case(
        "R7", "fields_sessions", "fields:Sessions",
        (integers("seconds", "b", "n", high=70_000),), WORDS,
        feeds=({"seconds": 2 ** np.arange(17)[None]},),
    ),
    Case(
        "R4", "fields_tagger", "fields:Tagger",
        (tensor("words", "b", "n", 4), integers("kept", "b", "n", high=1)), WORDS, edges=(),
    ),
    Case("R7", "fields_quantized", "fields:Quantized", (tensor("x", "b", 1, "h", "w"),), PICTURES),
    Case(
        "R7", "fields_filtered", "fields:Filtered",
        (integers("pictures", "b", "h", "w", high=255, dtype="uint8"),), PICTURES,
    ),
)  # fmt: skip


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
