from __future__ import annotations

import numpy as np
import pytest

from modelexport_api.spec import Precision
from modelexport_exporter.core.accuracy_loss import AccuracyLoss, describe_refusal
from modelexport_exporter.precision.losses import Losses


def test_losses_are_relative_to_the_peak_and_rows_keep_their_class() -> None:
    losses = Losses()
    want = np.array([[1.0, 4.0], [2.0, 0.0]], np.float32)
    losses.add("logits", want, want + np.array([[0, -0.4], [0, 0]], np.float32))
    losses.add("logits", want, np.array([[1.0, 4.0], [0.0, 2.0]], np.float32))
    (found,) = losses.all()
    assert (found.output, found.max_rel_error, found.top1, found.rows) == ("logits", 0.5, 0.75, 4)
    assert found.mean_rel_error == pytest.approx((0.025 + 0.25) / 2)


def test_what_cannot_be_compared_is_left_to_the_verdict() -> None:
    losses = Losses()
    losses.add("shape", np.ones(2, np.float32), np.ones(3, np.float32))
    losses.add("integers", np.ones(2, np.int64), np.zeros(2, np.int64))
    losses.add("zeros", np.zeros(2, np.float32), np.ones(2, np.float32))
    assert losses.all() == ()


def test_a_vector_has_no_classes() -> None:
    losses = Losses()
    losses.add("y", np.ones(4, np.float32), np.ones(4, np.float32))
    assert losses.all() == (AccuracyLoss("y", 0.0, 0.0, None, 0),)


@pytest.mark.parametrize("precision", [entry for entry in Precision if entry != "Native"])
def test_a_refusal_says_how_much_and_what_to_do(precision: Precision) -> None:
    losses = (AccuracyLoss("a", 0.1, 0.01, None, 0), AccuracyLoss("b", 0.4, 0.02, 0.5, 4))
    message, hint = describe_refusal(precision, losses, 0.03)
    assert f"In {precision.value}, b loses up to 0.4" in message
    assert "simulation of it loses 0.03" in message
    assert "verification.tolerance" in hint
    assert "set export.precision to" in hint.lower()
