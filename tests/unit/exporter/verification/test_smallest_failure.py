"""Which of the samples that differ the search for the node to blame runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pytest

from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.comparison import (
    OutputComparison,
    Problem,
    ProblemKind,
    SampleComparison,
)
from modelexport_exporter.core.sample import Values
from modelexport_exporter.core.types import ConvertedModel
from modelexport_exporter.verification.original import Original
from modelexport_exporter.verification.smallest_failure import LARGEST_TELLING, SmallestFailure

FILE = cast("ConvertedModel", None)


class Searched:
    """An original that names the arrays that were searched."""

    def blame(self, _: object, arrays: Mapping[str, Any], limits: Sequence[float]) -> Blame:
        assert limits == [0.5]
        return Blame(node=str(int(arrays["x"])))


def compared(
    batch: int, values: Values = Values.NORMAL, kind: ProblemKind | None = ProblemKind.VALUES
) -> SampleComparison:
    problem = Problem(kind, "differs") if kind else None
    output = OutputComparison("y", 1.0, 1.0, 0.5, problem)
    return SampleComparison({"batch": batch}, 0, (output,), values)


@pytest.mark.parametrize(
    ("samples", "chosen"),
    [
        ([(1, compared(1)), (9, compared(3)), (6, compared(2))], 2),
        ([(6, compared(2, Values.ZEROS)), (9, compared(3))], 1),
        ([(9, compared(3, kind=None)), (1, compared(1))], 1),
        ([(1, compared(1)), (LARGEST_TELLING + 1, compared(3))], 0),
        ([(4, compared(1, Values.ZEROS)), (3, compared(1))], 1),
        (
            [
                (4, compared(1)),
                (3, compared(3, Values.GOLDEN, ProblemKind.GOLDEN)),
                (2, compared(1)),
            ],
            2,
        ),
    ],
    ids=[
        "several rows before one, then the smallest",
        "ordinary values before zeros",
        "only what differs",
        "a small one before a large one",
        "the smallest where none tells more",
        "not one whose record is wrong",
    ],
)
def test_chosen(samples: list[tuple[int, SampleComparison]], chosen: int) -> None:
    smallest = SmallestFailure()
    for place, (volume, sample) in enumerate(samples):
        smallest.add(volume, {"x": np.array(place)}, sample)
    blame = smallest.blame(cast("Original", Searched()), FILE)
    assert blame is not None
    assert blame.node == str(chosen)


def test_nothing_differs() -> None:
    smallest = SmallestFailure()
    smallest.add(1, {}, compared(2, kind=None))
    assert smallest.blame(cast("Original", Searched()), FILE) is None
