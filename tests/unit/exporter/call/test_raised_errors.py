"""An error that no other inputs avoid has advice of its own."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence

from modelexport_exporter.call.raised_errors import way_out


def recurses() -> None:
    recurses()


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda: open("labels.txt"), "next to __file__"),  # noqa: PTH123, SIM115
        (lambda: os.environ["A_SCALE"], "no such environment variable"),
        (recurses, "whatever the inputs are"),
        (lambda: [].missing, "whatever the inputs are"),  # type: ignore[attr-defined]
        (lambda: dict[str, int]()["a"], "Declare"),
        (lambda: __import__("a_library_that_nobody_has"), "a_library_that_nobody_has"),
        (lambda: torch.ones(2)["ids"], "Name the inputs PARAMETER.KEY"),  # type: ignore[index]
        (lambda: torch.ones(2).sum().backward(), "Forward trains"),  # type: ignore[no-untyped-call]
        (lambda: torch.ones(2).lower(), "make ids of it"),  # type: ignore[attr-defined]
        (lambda: pack_padded_sequence(torch.ones(3, 2, 1), torch.tensor([1, 2])), "enforce_sorted"),
        (lambda: torch.linalg.inv(torch.zeros(2, 2)), "verification.sampler"),
        (lambda: 1 / 0, "Declare"),
    ],
)
def test_advice(call: Callable[[], object], advice: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011
        call()
    assert advice in way_out(raised.value, "Declare other inputs.")
