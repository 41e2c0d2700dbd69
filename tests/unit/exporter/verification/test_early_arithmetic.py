"""Answers are used once, for the arrays that led to them only, and count with their time."""

from __future__ import annotations

import numpy as np

from modelexport_exporter.verification.early_arithmetic import EarlyAnswer, EarlyArithmetic
from modelexport_exporter.verification.numerics.arithmetic import Arithmetic

ONE, TWO = {"x": np.ones(2, np.float32)}, {"x": np.full(2, 2, np.float32)}
ARITHMETIC = [Arithmetic("float32")]
OUTPUTS = [np.zeros(4)]


def test_answers_are_taken_once_and_count() -> None:
    early = EarlyArithmetic(
        EarlyAnswer.of(ONE, ARITHMETIC, 0.5), EarlyAnswer.of(TWO, OUTPUTS, 0.25)
    )
    assert early.seconds == 0
    assert early.take_computed_in({"x": ONE["x"].copy()}) is ARITHMETIC
    assert early.take_in_float64(TWO) is OUTPUTS
    assert early.seconds == 0.75
    assert early.take_computed_in(ONE) is early.take_in_float64(TWO) is None
    assert early.seconds == 0.75


def test_answers_for_other_arrays_are_dropped() -> None:
    early = EarlyArithmetic(
        EarlyAnswer.of(ONE, ARITHMETIC, 0.5), EarlyAnswer.of(ONE, OUTPUTS, 0.25)
    )
    assert early.take_computed_in(TWO) is early.take_in_float64(TWO) is None
    assert early.take_computed_in(ONE) is early.take_in_float64(ONE) is None
    assert early.seconds == 0


def test_a_model_without_float64_answers_with_no_outputs() -> None:
    early = EarlyArithmetic(in_float64=EarlyAnswer.of(ONE, [], 0.5))
    assert early.take_in_float64(ONE) == []
