"""Slices of an output whose magnitudes differ have limits of their own."""

from __future__ import annotations

import numpy as np
import pytest

from modelexport_exporter.verification.numerics.compare import compare_output
from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate
from modelexport_exporter.verification.numerics.slices import ENOUGH, SlicePeaks, Slices
from modelexport_exporter.verification.numerics.tolerance import Tolerance

RNG = np.random.default_rng(0)
TIGHT = Tolerance(4e-6, 0.0, "Calibrated")


def beside(scale: float, rows: int = 64) -> np.ndarray:
    """Return probabilities beside numbers of the scale."""
    return np.stack([RNG.uniform(0.5, 1, rows) * scale, RNG.uniform(0.5, 1, rows)], -1)


@pytest.mark.parametrize(("scale", "caught"), [(1e6, True), (10.0, True), (1.0, True)])
def test_a_small_column_has_its_own_limit(scale: float, caught: bool) -> None:
    want = beside(scale).astype(np.float32)
    have = want.copy()
    have[:, 1] += 1e-4
    slices = SlicePeaks().slices(want, (), ordinary=True)
    found = compare_output("y", want, have, TIGHT, slices=slices)
    assert (found.problem is not None) is caught
    assert compare_output("y", want, want, TIGHT, slices=slices).problem is None


def test_channels_count_as_columns_do() -> None:
    want = np.moveaxis(RNG.uniform(0.5, 1, (2, 8, 8, 2)) * [255.0, 1.0], -1, 1)
    slices = SlicePeaks().slices(want, (), ordinary=True)
    assert slices is not None
    assert slices.axis == 1
    assert slices.scales[1] <= 1


@pytest.mark.parametrize("shape", [(2, 64), (2, 8, 8)])
def test_stacked_parts_count_as_columns_do(shape: tuple[int, ...]) -> None:
    want = RNG.uniform(0.5, 1, shape) * np.array([1e6, 1.0]).reshape(2, *[1] * (len(shape) - 1))
    slices = SlicePeaks().slices(want, (8, 64), ordinary=True)
    assert slices is not None
    assert slices.axis == 0
    assert slices.scales.tolist() == [want[0].max(), want[1].max()]
    assert slices.of_flat(shape, 60, 68).tolist() == [0] * 4 + [1] * 4


@pytest.mark.parametrize(
    ("rows", "varying"), [(ENOUGH - 1, ()), (64, (2,))], ids=["few elements", "a dynamic axis"]
)
def test_no_slices(rows: int, varying: tuple[int, ...]) -> None:
    assert SlicePeaks().slices(beside(1e6, rows), varying, ordinary=True) is None


def test_peaks_add_up_over_samples() -> None:
    peaks = SlicePeaks()
    assert peaks.slices(beside(1e6, 20), (), ordinary=True) is None
    assert peaks.slices(beside(1e6, 20), (), ordinary=True) is not None


def test_alike_columns_have_the_limit_of_the_output() -> None:
    assert SlicePeaks().slices(beside(4.0), (), ordinary=True) is None


def noisy(shape: tuple[int, ...], distance: np.ndarray) -> NoiseEstimate:
    """Return the noise of an output of this shape, moved once by a distance."""
    estimate = NoiseEstimate(np.zeros(shape))
    estimate.add(np.zeros(shape) + distance)
    return estimate


@pytest.mark.parametrize(
    ("elements", "noises"),
    [(1, [3e-7, 3e-7, 1e-9]), (ENOUGH, [1e-7, 3e-7, 1e-9])],
    ids=["one element", "enough"],
)
def test_slices_of_few_elements_share_the_noise_of_like_ones(
    elements: int, noises: list[float]
) -> None:
    slices = Slices(1, np.array([1.0, 0.6, 1e-3]))
    measured = np.array([1e-7, 3e-7, 1e-9])
    assert slices.noises_with(measured, elements).tolist() == noises
    assert slices.noises_with(np.zeros(3), 0).tolist() == [0.0] * 3


def test_the_noise_of_earlier_samples_counts() -> None:
    """A column whose error is within eight times its noise agrees without another run."""
    peaks, want = SlicePeaks(), beside(1e4)
    distance = np.array([0.0, 2e-6])
    peaks.add_noise(want, (), noisy(want.shape, distance))
    slices = peaks.slices(want, (), ordinary=True)
    assert slices is not None
    assert slices.noises_with(np.zeros(2), 0) == pytest.approx([0.0, 2e-6])
    have = want + np.array([0.0, 1.5e-5])
    calibrated = Tolerance(4e-6, 0.0, "Calibrated", multiple=8.0)
    assert compare_output("y", want, have, calibrated, slices=slices).problem is None
    fresh = SlicePeaks().slices(want, (), ordinary=True)
    assert compare_output("y", want, have, calibrated, slices=fresh).problem is not None
