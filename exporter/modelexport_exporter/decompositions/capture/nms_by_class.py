"""`torchvision.ops.batched_nms` without its branches on how many boxes there are.

It takes one of two ways by the number of boxes, which may depend on values, and returns early for
none. Both ways keep the same boxes: those of another class are moved to where none overlaps.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

import torch
from torch import Tensor

from modelexport_exporter.torch_internals.names_of_modules import replaced_in

_BOXES, _OPS = "torchvision.ops.boxes", "torchvision.ops"


@contextmanager
def nms_by_class_of_any_number(modules: Sequence[ModuleType]) -> Iterator[None]:
    """Let boxes be suppressed by class, also by the names that these modules have for it."""
    if _BOXES not in sys.modules:
        yield
        return
    boxes, ops = sys.modules[_BOXES], sys.modules[_OPS]
    with replaced_in((boxes, ops, *modules), boxes.batched_nms, batched_nms):
        yield


def batched_nms(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    """Return int64 [kept], the places of the boxes that are kept, highest score first.

    `boxes`: [n, 4]; `scores`: [n]; `idxs`: [n], the classes.
    """
    none = boxes.new_full((1,), -torch.inf)
    largest = torch.cat([boxes.reshape(-1), none]).max()
    moved = boxes + (idxs.to(boxes) * (largest + 1))[:, None]
    kept: Tensor = sys.modules[_BOXES].nms(moved, scores, iou_threshold)
    return kept
