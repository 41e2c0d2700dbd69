"""Further samples have a share of the time of the others, within bounds."""

from __future__ import annotations

import pytest

from modelexport_exporter.verification.samples import time_shares


@pytest.mark.parametrize(
    ("spent", "named", "lookups", "likely_sizes"),
    [(0.0, 0.25, 2.0, 0.25), (1.0, 0.25, 2.0, 0.25), (4.0, 0.4, 2.0, 0.6), (40.0, 4.0, 4.0, 1.0)],
)
def test_shares(spent: float, named: float, lookups: float, likely_sizes: float) -> None:
    assert time_shares.named(spent) == pytest.approx(spent + named)
    assert time_shares.lookups(spent) == pytest.approx(spent + lookups)
    assert time_shares.likely_sizes(spent) == pytest.approx(spent + likely_sizes)


@pytest.mark.parametrize(
    ("spent", "fast", "seconds"),
    [(0.1, True, 0.5), (9.0, True, 0.5), (2.0, False, 0.2), (9.0, False, 0.5)],
)
def test_all_sizes_have_more_time_where_a_model_is_fast(
    spent: float, fast: bool, seconds: float
) -> None:
    assert time_shares.every_size(spent, fast=fast) == pytest.approx(spent + seconds)


@pytest.mark.parametrize(
    ("seconds", "fast"),
    [
        ([], True),
        ([0.06], False),
        ([0.01] * 30, True),
        ([0.01] * 30 + [2.0], True),  # the machine stood still once
        ([0.01] * 8 + [0.06] * 2, False),
        ([0.06] * 30, False),
    ],
)
def test_a_model_is_fast_if_nearly_all_samples_are(seconds: list[float], fast: bool) -> None:
    assert time_shares.is_fast(seconds) is fast


@pytest.mark.parametrize(
    ("seconds", "count"),
    [([], 0), ([0.001] * 9, 250), ([0.001] * 9 + [1.0], 250), ([0.04] * 9, 6)],
)
def test_so_many_samples_of_all_integers_as_a_usual_sample_allows(
    seconds: list[float], count: int
) -> None:
    assert time_shares.each_integer_samples(seconds) == count
