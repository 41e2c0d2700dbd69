"""What detectors and point clouds use: suppressed boxes, regions of images, unique values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
import torchvision
from torch import Tensor

from kernels.kernel import Arguments, Kernel
from kernels.layouts import unary
from kernels.values import drawn

SINGLE = (torch.float32,)


def _boxes(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield boxes of a grid, many of which overlap by a share that is the threshold, and scores."""
    for count in (1, 5, 16, 60):
        corners = drawn([0.0, 1.0, 2.0, 3.0, 2.5], (count, 2), dtype, count)
        sides = drawn([1.0, 2.0, 4.0], (count, 2), dtype, count + 1)
        boxes = torch.cat([corners, corners + sides], 1)
        yield boxes[None], drawn(values, (1, 1, count), dtype, count + 2)
    yield torch.empty((1, 0, 4), dtype=dtype), torch.empty((1, 1, 0), dtype=dtype)


def _suppress(boxes: Tensor, scores: Tensor) -> Tensor:
    kept = torchvision.ops.nms(boxes[0], scores[0, 0], 0.5)
    return torch.stack([torch.zeros_like(kept), torch.zeros_like(kept), kept], 1)


def _regions(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield images, and regions inside, across the border, without area, and none."""
    corners = [[0, 0, 4, 4], [1.5, 0.5, 6.5, 5.0], [-3, -2, 2, 9], [3, 3, 3, 3], [7, 7, 20, 20]]
    for shape in ((1, 2, 8, 8), (2, 3, 5, 7)):
        x = drawn(values, shape, dtype, sum(shape))
        rois = torch.tensor(corners, dtype=dtype)
        image = torch.arange(len(corners)) % shape[0]
        yield x, rois, image
        yield x, rois[:0], image[:0]


def _roi_align(sampling: int, aligned: bool) -> Kernel:
    def eager(x: Tensor, rois: Tensor, image: Tensor) -> Tensor:
        numbered = torch.cat([image[:, None].to(rois.dtype), rois], 1)
        result: Tensor = torchvision.ops.roi_align(x, numbered, (3, 2), 0.5, sampling, aligned)
        return result

    return Kernel(
        "RoiAlign",
        eager,
        _regions,
        {
            "output_height": 3,
            "output_width": 2,
            "spatial_scale": 0.5,
            "sampling_ratio": max(sampling, 0),
            "coordinate_transformation_mode": "half_pixel" if aligned else "output_half_pixel",
        },
        dtypes=SINGLE,
        variant=f"{'aligned, ' if aligned else ''}{sampling} samples",
    )


def _unique(x: Tensor) -> tuple[Tensor, ...]:
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    places = torch.arange(x.numel())
    first = places.new_full((values.numel(),), x.numel()).scatter_reduce(
        0, inverse.flatten(), places, "amin"
    )
    return values, first, inverse.flatten(), counts


def _columns(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    for shape in ((1, 8, 9), (2, 4, 9)):
        yield (drawn(values, shape, dtype, sum(shape)),)
    yield (torch.empty((0, 4, 9), dtype=dtype),)


def _array(*numbers: Any) -> Any:  # noqa: ANN401
    return lambda _dtype: np.array(numbers, np.float32)


KERNELS = (
    Kernel(
        "NonMaxSuppression",
        _suppress,
        _boxes,
        constants={2: [2**31 - 1], 3: _array(0.5)},
        dtypes=SINGLE,
    ),
    *(_roi_align(sampling, aligned) for sampling in (-1, 2) for aligned in (False, True)),
    Kernel("Unique", _unique, unary, {"sorted": 1}, outputs=4),
    Kernel(
        "Col2Im",
        lambda x: F.fold(x, (4, 4), 2),
        _columns,
        constants={1: [4, 4], 2: [2, 2]},
        dtypes=(torch.float32, torch.float64, torch.float16),
    ),
)
