"""Suppression of boxes by class keeps what torchvision keeps, of any number of boxes."""

from __future__ import annotations

import sys

import pytest
import torch
from torchvision.ops import batched_nms, boxes

from modelexport_exporter.decompositions.capture import nms_by_class


def drawn(count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(count)
    corners = torch.rand(count, 2) * 60 - 20
    places = torch.cat([corners, corners + torch.rand(count, 2) * 20 + 1], 1)
    return places, torch.rand(count), torch.randint(0, 4, (count,))


@pytest.mark.parametrize("count", [0, 1, 40, 1200])
def test_the_same_boxes_are_kept(count: int) -> None:
    arguments = (*drawn(count), 0.3)
    assert torch.equal(nms_by_class.batched_nms(*arguments), batched_nms(*arguments))


def test_it_is_called_by_all_names() -> None:
    own = boxes.batched_nms
    here = sys.modules[__name__]
    with nms_by_class.nms_by_class_of_any_number([here]):
        assert vars(here)["batched_nms"] is boxes.batched_nms is nms_by_class.batched_nms
    assert vars(here)["batched_nms"] is boxes.batched_nms is own
