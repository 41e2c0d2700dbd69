from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from modelexport_exporter.verification.seeking.nan_tests import tests_for_nan as looks_for_nan

Function = Callable[[float, float], object]


def itself(v: float, w: float) -> object:
    return 1 if v != v else w  # noqa: PLR0124


def equal_to_itself(v: float, w: float) -> object:
    return v + 1 if w == w and v > 2 else v  # noqa: PLR0124


def by_name(v: float, w: float) -> object:
    return w if math.isnan(v) else v


def with_another(v: float, w: float) -> object:
    return v if v != w else w


def product(v: float, w: float) -> object:
    return v * v > w


@pytest.mark.parametrize("function", [itself, equal_to_itself, by_name])
def test_numbers_that_are_tested_for_nan(function: Function) -> None:
    assert looks_for_nan(function.__code__)


@pytest.mark.parametrize("function", [with_another, product])
def test_numbers_that_are_not(function: Function) -> None:
    assert not looks_for_nan(function.__code__)
