"""Padding by the edges, against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

IMAGE = torch.arange(48.0).reshape(1, 3, 4, 4)


@pytest.mark.parametrize("pad", [[-4, 5], [5, -4, -1, 3], [0, 0, 2, -4], [-1, -1, -1, -1]])
def test_negative_amounts_crop(pad: list[int]) -> None:
    assert_as_eager("aten::pad", IMAGE[0] if len(pad) == 2 else IMAGE, pad, "replicate")


def test_other_paddings_are_left_to_torch() -> None:
    applies = DECOMPOSITIONS["aten::pad"].applies
    assert not applies(IMAGE, [1, 2], "replicate")
    assert not applies(IMAGE, [-1, 2], "reflect")
