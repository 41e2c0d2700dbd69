from __future__ import annotations

import pytest

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.verification.samples import sample_scheduler as admission
from modelexport_exporter.verification.samples.sample_scheduler import SampleScheduler

SPEC = ModelExportSpec.model_validate(
    {
        "source": {"uri": "file:///c.pt"},
        "inputs": [{"name": "x", "shape": ["batch", 10]}],
        "dims": {"batch": {"min": 1, "max": 1000}},
        "destination": {"uri": "file:///out/"},
    }
)


def at(batch: int) -> Sample:
    return Sample({"batch": batch}, Values.NORMAL, batch)


def scheduler_after(seconds: float, monkeypatch: pytest.MonkeyPatch) -> SampleScheduler:
    """Return scheduler_after after samples of 1 and 100 rows that took 0.01 s and 1 s."""
    monkeypatch.setattr(admission, "free_memory", lambda: 1 << 60)
    made = SampleScheduler(SPEC, seconds)
    made.note(at(1), 0.01)
    made.note(at(100), 1.0)
    return made


def test_sample_that_fits_runs_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    made = scheduler_after(60.0, monkeypatch)
    assert list(made.admissible(at(1000))) == [at(1000)]
    assert made.left_out == []
    assert made.spent == pytest.approx(1.01)
    assert made.slowest == pytest.approx(1.0)


def test_largest_sample_that_does_not_fit_is_shrunk_and_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = scheduler_after(6.0, monkeypatch)
    ran = []
    for sample in made.admissible(at(1000)):
        ran.append(sample.dims["batch"])
        made.note(sample, sample.dims["batch"] / 100)
    assert ran == [250]  # the rest of the budget fits 224 rows, which adds nothing
    (sentence,) = made.left_out
    assert "batch=1000 (normal values): would take about 10 s" in sentence
    assert sentence.endswith("batch=250 ran instead")


def test_other_sample_that_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = scheduler_after(2.0, monkeypatch)
    assert list(made.admissible(at(500))) == []
    assert made.left_out[0].endswith("left out")


def test_no_costs_before_the_first_sample() -> None:
    assert SampleScheduler(SPEC, 0.0).slowest is None
    assert list(SampleScheduler(SPEC, 0.0).admissible(at(1))) == [at(1)]
