"""Layers of networks: convolutions, pools, normalizations, recurrences and resampling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from kernels.kernel import Arguments, Kernel
from kernels.layouts import images
from kernels.values import drawn

SINGLE = (torch.float32, torch.float64, torch.float16)
_GRID_TIES = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, -1.5)


def _weights(*shape: int) -> Callable[[torch.dtype], np.ndarray]:
    """Return what makes ordinary weights of the dtype."""
    return lambda dtype: _weight(shape, dtype).numpy()


def _weight(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    return drawn([0.5, -1.25, 2.0, 0.75, -0.5], shape, dtype, 5)


def _same_channels(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield images of three channels."""
    for shape in ((1, 3, 5, 7), (2, 3, 8, 8), (1, 3, 9, 17)):
        yield (drawn(values, shape, dtype, sum(shape)),)
    yield (torch.empty((0, 3, 5, 7), dtype=dtype),)


def _grids(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield images with grids that meet pixels, their edges, the border and what lies outside."""
    points = torch.tensor(_GRID_TIES, dtype=torch.float64)
    for height, width in ((4, 4), (5, 3), (8, 2)):
        x = drawn(values, (1, 2, height, width), dtype, height)
        grid = torch.stack(torch.meshgrid(points, points, indexing="xy"), -1)[None]
        yield x, grid.to(dtype)
        pixels = torch.arange(2 * width + 2, dtype=torch.float64) / width - 1
        grid = torch.stack(torch.meshgrid(pixels, pixels, indexing="xy"), -1)[None]
        yield x, grid.to(dtype)


def _grid_sample(mode: str, padding: str, align: bool) -> Kernel:
    onnx_mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    return Kernel(
        "GridSample",
        lambda x, grid: F.grid_sample(x, grid, mode, padding, align),
        _grids,
        {"mode": onnx_mode, "padding_mode": padding, "align_corners": int(align)},
        dtypes=(torch.float32, torch.float64),
        variant=f"{mode}, {padding}{', corners' if align else ''}",
    )


_GRIDS = tuple(
    _grid_sample(mode, padding, align)
    for mode in ("bilinear", "nearest", "bicubic")
    for padding in ("zeros", "border", "reflection")
    for align in (False, True)
)


def _pool(
    operator: str,
    eager: Callable[[Tensor], Tensor],
    variant: str,
    **attributes: Any,  # noqa: ANN401
) -> Kernel:
    return Kernel(operator, eager, images, attributes, dtypes=SINGLE, variant=variant)


_POOLS = (
    _pool("MaxPool", lambda x: F.max_pool2d(x, 3, 2, 1), "2d",
          kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    _pool("MaxPool", lambda x: F.max_pool2d(x, 2, 1, dilation=2), "dilated",
          kernel_shape=[2, 2], strides=[1, 1], dilations=[2, 2]),
    _pool("AveragePool", lambda x: F.avg_pool2d(x, 3, 2, 1), "2d",
          kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1),
    _pool("AveragePool", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), "padding",
          kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    _pool("GlobalAveragePool", lambda x: F.adaptive_avg_pool2d(x, 1), ""),
    _pool("GlobalMaxPool", lambda x: F.adaptive_max_pool2d(x, 1), ""),
)  # fmt: skip

_CONVOLUTIONS = (
    Kernel("Conv", lambda x: F.conv2d(x, _weight((4, 3, 3, 3), x.dtype), padding=1),
           _same_channels, {"pads": [1, 1, 1, 1]}, {1: _weights(4, 3, 3, 3)}, SINGLE),
    Kernel("Conv", lambda x: F.conv2d(x, _weight((3, 1, 3, 3), x.dtype), groups=3, stride=2),
           _same_channels, {"group": 3, "strides": [2, 2]}, {1: _weights(3, 1, 3, 3)}, SINGLE,
           variant="groups"),
    Kernel("ConvTranspose", lambda x: F.conv_transpose2d(x, _weight((3, 2, 3, 3), x.dtype)),
           _same_channels, {}, {1: _weights(3, 2, 3, 3)}, SINGLE),
)  # fmt: skip


def _norm(
    operator: str,
    eager: Callable[[Tensor], Tensor],
    count: int,
    **attributes: Any,  # noqa: ANN401
) -> Kernel:
    weights = {place: _weights(3) for place in range(1, 1 + count)}
    return Kernel(operator, eager, _same_channels, attributes, weights, SINGLE)


def _of(x: Tensor, *shape: int) -> Tensor:
    return _weight(shape, x.dtype)


def _positive(dtype: torch.dtype) -> np.ndarray:
    return _weight((3,), dtype).abs().numpy()


_NORMALIZATIONS = (
    _norm("InstanceNormalization", lambda x: F.instance_norm(x, None, None, _of(x, 3), _of(x, 3)),
          2),
    Kernel("BatchNormalization",
           lambda x: F.batch_norm(x, _of(x, 3), _of(x, 3).abs(), _of(x, 3), _of(x, 3)),
           _same_channels, {}, {1: _weights(3), 2: _weights(3), 3: _weights(3), 4: _positive},
           SINGLE),
    Kernel("LayerNormalization", lambda x: F.layer_norm(x, x.shape[2:], _of(x, *x.shape[2:])),
           lambda values, dtype: ((drawn(values, (2, 3, 5, 7), dtype, n),) for n in range(9)),
           {"axis": 2}, {1: _weights(5, 7)}, SINGLE),
    Kernel("GroupNormalization", lambda x: F.group_norm(x, 3, _of(x, 3), _of(x, 3)),
           _same_channels, {"num_groups": 3}, {1: _weights(3), 2: _weights(3)}, SINGLE, opset=21),
)  # fmt: skip


def _resize(mode: str, eager: dict[str, Any], onnx: dict[str, Any]) -> Kernel:
    return Kernel(
        "Resize",
        lambda x: F.interpolate(x, (7, 10), mode=mode, **eager),
        lambda values, dtype: ((drawn(values, (1, 2, n, 4), dtype, n),) for n in (3, 5, 14)),
        onnx,
        {1: _none, 2: _none, 3: [1, 2, 7, 10]},
        (torch.float32, torch.float64),
        variant=f"{mode}{', corners' if eager.get('align_corners') else ''}",
    )


def _none(_: torch.dtype) -> np.ndarray:
    """Return an empty array: Resize's roi and scales are not given."""
    return np.array([], np.float32)


_HALF, _CORNERS = "pytorch_half_pixel", "align_corners"
_RESIZES = (
    _resize("nearest", {}, {"mode": "nearest", "nearest_mode": "floor",
                            "coordinate_transformation_mode": "asymmetric"}),
    _resize("bilinear", {}, {"mode": "linear", "coordinate_transformation_mode": _HALF}),
    _resize("bilinear", {"align_corners": True},
            {"mode": "linear", "coordinate_transformation_mode": _CORNERS}),
    _resize("bicubic", {}, {"mode": "cubic", "coordinate_transformation_mode": _HALF,
                            "cubic_coeff_a": -0.75}),
    _resize("bicubic", {"align_corners": True},
            {"mode": "cubic", "coordinate_transformation_mode": _CORNERS,
             "cubic_coeff_a": -0.75}),
)  # fmt: skip


def _steps(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    for steps, batch in ((1, 1), (5, 3), (4, 8)):
        yield (drawn(values, (steps, batch, 4), dtype, steps),)


def _recurrent(operator: str, gates: int, order: list[int]) -> Kernel:
    """Return a layer of 4 inputs and 3 units; ONNX orders the gates otherwise than torch."""
    shapes = ((gates * 3, 4), (gates * 3, 3), (gates * 3,), (gates * 3,))

    def eager(x: Tensor) -> tuple[Tensor, ...]:
        layer: Any = getattr(torch.nn, operator)(4, 3).to(x.dtype)
        for parameter, shape in zip(layer.parameters(), shapes, strict=True):
            parameter.data = _weight(shape, x.dtype)
        with torch.no_grad():
            answer, _ = layer(x)
        return (answer[:, None],)

    def ordered(*places: int) -> Callable[[torch.dtype], np.ndarray]:
        def make(dtype: torch.dtype) -> np.ndarray:
            parts = [_weight(shapes[p], dtype).chunk(gates)[g] for p in places for g in order]
            return torch.cat(parts)[None].numpy()

        return make

    attributes: dict[str, Any] = {"hidden_size": 3}
    if operator == "GRU":
        attributes["linear_before_reset"] = 1
    constants = {1: ordered(0), 2: ordered(1), 3: ordered(2, 3)}
    return Kernel(operator, eager, _steps, attributes, constants, SINGLE)


_RECURRENT = (
    _recurrent("LSTM", 4, [0, 3, 1, 2]),
    _recurrent("GRU", 3, [1, 0, 2]),
    _recurrent("RNN", 1, [0]),
)
KERNELS = (*_GRIDS, *_POOLS, *_CONVOLUTIONS, *_NORMALIZATIONS, *_RESIZES, *_RECURRENT)
