"""Outputs are used once, for the arrays that led to them only, and count with their time."""

from __future__ import annotations

import numpy as np
import pytest

from modelexport_exporter.verification import early_outputs
from modelexport_exporter.verification.early_outputs import EarlyOutputs

ONE, TWO = {"x": np.ones(2, np.float32)}, {"x": np.full(2, 2, np.float32)}
OUTPUT = [np.zeros(4, np.float32)]


def test_outputs_are_taken_once() -> None:
    early = EarlyOutputs()
    assert early.add(ONE, OUTPUT, 0.5)
    assert early.take(TWO) is None
    assert early.take({"x": ONE["x"].copy()}) is OUTPUT
    assert early.take(ONE) is None


def test_only_outputs_that_are_used_count() -> None:
    early = EarlyOutputs()
    early.add(ONE, OUTPUT, 0.5)
    early.add(TWO, OUTPUT, 0.25)
    assert early.seconds == 0
    early.take(TWO)
    assert early.seconds == 0.25


def test_outputs_that_are_kept_are_known_until_they_are_forgotten() -> None:
    early = EarlyOutputs()
    early.add(ONE, OUTPUT, 0.5)
    assert early.has(ONE)
    assert not early.has(TWO)
    early.forget()
    assert not early.has(ONE)
    assert early.take(ONE) is None
    assert not early.add(ONE, OUTPUT, 0.5)


def test_outputs_without_room_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_outputs, "MOST_BYTES", 31)
    early = EarlyOutputs()
    assert early.add(ONE, OUTPUT, 0.5)
    assert not early.add(TWO, OUTPUT, 0.5)
    assert not early.has(TWO)
    early.take(ONE)
    assert early.add(TWO, OUTPUT, 0.5)
