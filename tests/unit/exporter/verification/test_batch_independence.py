"""Models that mix the rows of a batch, and models that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from modelexport_exporter.verification.batch_independence import is_batch_independent

Array = Any
X = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)


def softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x)
    return powers / powers.sum(axis=axis, keepdims=True)


@pytest.mark.parametrize(
    ("model", "independent"),
    [
        pytest.param(lambda x: softmax(x, 1), True, id="softmax over features"),
        pytest.param(lambda x: softmax(x, 0), False, id="softmax over the batch"),
        pytest.param(lambda x: np.cumsum(x, 0), False, id="a recurrence in time"),
        pytest.param(lambda x: x - x.mean(0), False, id="normalised over the batch"),
        pytest.param(lambda x: x.argmax(1), True, id="classes"),
        pytest.param(lambda x: np.flip(x, 0), False, id="rows in another order"),
        pytest.param(lambda x: np.where(x > 0, x, np.nan), True, id="equal NaN"),
        pytest.param(lambda x: np.concatenate([x, x]), False, id="twice as many rows"),
        pytest.param(lambda x: x[: len(x) // 2], False, id="fewer rows"),
        pytest.param(lambda x: (x * (1 + 1e-6 * len(x))).astype(np.float16), True, id="rounding"),
    ],
)
def test_batch_independence(model: Callable[[Array], Array], independent: bool) -> None:
    run = lambda arrays: [("y", model(arrays["x"]))]  # noqa: E731
    assert is_batch_independent({"x": X}, run) is independent


def test_every_output_must_be_independent() -> None:
    run = lambda arrays: [("a", arrays["x"]), ("b", np.cumsum(arrays["x"], 0))]  # noqa: E731
    assert not is_batch_independent({"x": X}, run)
