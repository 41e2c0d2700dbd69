"""Outputs are used once, for the arrays that led to them only, and count with their time."""

from __future__ import annotations

import numpy as np
import pytest

from modelexport_exporter.verification import early_outputs
from modelexport_exporter.verification.early_outputs import EarlyOutputs, EarlyRun
from modelexport_exporter.verification.seeking.watched_run import WatchedRun

ONE, TWO = {"x": np.ones(2, np.float32)}, {"x": np.full(2, 2, np.float32)}
OUTPUT = [np.zeros(4, np.float32)]
RUN = EarlyRun(OUTPUT, 0.5, WatchedRun())
WATCHED = EarlyRun(OUTPUT, 0.25, WatchedRun(taken=()))


def test_outputs_are_taken_once() -> None:
    early = EarlyOutputs()
    assert early.add(ONE, RUN)
    assert early.take(TWO) is None
    assert early.take({"x": ONE["x"].copy()}) is RUN
    assert early.take(ONE) is None


def test_only_outputs_that_are_used_count() -> None:
    early = EarlyOutputs()
    early.add(ONE, RUN)
    early.add(TWO, WATCHED)
    assert early.seconds == 0
    early.take(TWO)
    assert early.seconds == 0.25


def test_outputs_that_are_kept_are_known_until_they_are_forgotten() -> None:
    early = EarlyOutputs()
    early.add(ONE, RUN)
    assert early.has(ONE)
    assert not early.has(TWO)
    early.forget()
    assert not early.has(ONE)
    assert early.take(ONE) is None
    assert not early.add(ONE, RUN)


def test_outputs_without_room_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_outputs, "MOST_BYTES", 31)
    early = EarlyOutputs()
    assert early.add(ONE, RUN)
    assert not early.add(TWO, RUN)
    assert not early.has(TWO)
    early.take(ONE)
    assert early.add(TWO, RUN)


def test_of_a_model_that_reads_values_only_watched_runs_are_kept() -> None:
    early = EarlyOutputs()
    early.add(ONE, RUN)
    early.add(TWO, WATCHED)
    early.forget_unwatched()
    assert not early.has(ONE)
    assert early.take(TWO) is WATCHED
    assert not early.add(ONE, RUN)
    assert early.add(ONE, WATCHED)
