"""Which outputs forward returns in one call, and lacks in another."""

from __future__ import annotations

import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.call.same_outputs import SameOutputs
from modelexport_exporter.core.errors import Incurable, VaryingOutputs

ONE = torch.zeros(2)


@pytest.mark.parametrize(
    ("first", "later", "said"),
    [
        (
            {"heat": ONE, "centre": ONE},
            {"heat": ONE, "centre": None},
            "2 outputs at n=1 and 1 output (without centre) at n=2",
        ),
        (
            {"heat": ONE},
            {"heat": ONE, "centre": ONE},
            "1 output (without centre) at n=1 and 2 outputs at n=2",
        ),
        ((ONE, None), (ONE, ONE), "1 output (without output_1) at n=1"),
        ([ONE, ONE, ONE], [ONE], "1 output (without output_1, output_2) at n=2"),
        ([ONE], [ONE] * 6, "(without output_1, output_2, output_3 and 2 more) at n=1"),
        ({"a": ONE}, {"b": ONE}, "1 output (without b) at n=1 and 1 output (without a) at n=2"),
    ],
)
def test_other_outputs(first: object, later: object, said: str) -> None:
    outputs = SameOutputs()
    outputs.check(first, "n=1")
    outputs.check(first, "n=3")
    with pytest.raises(VaryingOutputs) as caught:
        outputs.check(later, "n=2")
    assert caught.value.reason is Reason.CONTRACT_VIOLATED
    assert said in caught.value.message


def test_what_no_file_returns_is_not_counted() -> None:
    outputs = SameOutputs()
    for returned in (["a"], ["a", "b"]):
        with pytest.raises(Incurable, match="an output of forward is a str"):
            outputs.check(returned, "n=1")


def test_other_containers_and_sizes_are_the_same_outputs() -> None:
    outputs = SameOutputs()
    outputs.check((ONE, {"a": ONE, "b": None}), "n=1")
    outputs.check([torch.zeros(3), {"a": ONE}], "n=2")
