"""Inputs in another order are found by calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import torch

from modelexport_exporter.diagnosis.accepted.orders import limits_of_order

Values = Mapping[str, torch.Tensor]
ROWS, IDS, MASK = torch.ones(2, 4), torch.ones(2, 3, dtype=torch.int64), torch.ones(2) > 0


@pytest.mark.parametrize(
    ("takes", "order"),
    [
        (lambda v: v["ids"] is ROWS and v["x"] is IDS, "ids, x, mask"),
        (lambda v: v["ids"] is MASK and v["mask"] is ROWS, "ids, mask, x"),
        (lambda v: v["ids"] is IDS, "mask, ids, x"),
        (lambda _: False, None),
    ],
)
def test_what_helps(takes: Callable[[Values], bool], order: str | None) -> None:
    values = {"x": ROWS, "ids": IDS, "mask": MASK}
    limits = limits_of_order(takes, values)
    wanted = [f"the inputs in the order {order}"] if order else []
    assert [limit.condition for limit in limits] == wanted


def test_many_inputs_are_left() -> None:
    assert limits_of_order(lambda _: True, {str(place): ROWS for place in range(5)}) == []
