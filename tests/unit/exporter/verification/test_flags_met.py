"""Boolean outputs that had one value only are named in the coverage."""

from __future__ import annotations

import numpy as np
import pytest

from modelexport_exporter.verification.flags_met import FlagsMet

NONE: list[bool] = []


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        ([[False, False], [False]], ["alarm is False in all samples"]),
        ([[True], [True]], ["alarm is True in all samples"]),
        ([[False], [False, True]], []),
        ([[True, False]], []),
        ([NONE, NONE], []),
        ([], []),
    ],
)
def test_flags(samples: list[list[bool]], said: list[str]) -> None:
    flags = FlagsMet()
    for sample in samples:
        flags.add({"alarm": np.array(sample, bool), "score": np.array([0.0], np.float32)})
    assert flags.coverage() == said
