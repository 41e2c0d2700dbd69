"""Places of GridSample that are far away, infinite or NaN, against torch."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import Array, graph_of, operators, rewritten, run

FAR = [0.1, 30.0, -1e9, 1e19, -1e19, 1e36]
STRANGE = [math.inf, -math.inf, math.nan]
MODES = {"linear": "bilinear", "nearest": "nearest", "cubic": "bicubic"}
CASES = [
    (dims, mode, padding)
    for dims, mode, padding in itertools.product((2, 3), MODES, ("zeros", "border", "reflection"))
    if not (dims == 3 and mode == "cubic")
]


def image_of(dims: int) -> Array:
    sizes = (5, 7, 6)[-dims:]
    return np.arange(math.prod(sizes), dtype=np.float32).reshape(1, 1, *sizes) + 1


def places(dims: int, values: list[float]) -> Array:
    """Return a grid in which each coordinate has each value, others 0.1."""
    rows = [
        [value if place == axis else 0.1 for place in range(dims)]
        for value in values
        for axis in range(dims)
    ]
    return np.array(rows, np.float32).reshape(1, len(rows), *[1] * (dims - 1), dims)


def eager(image: Array, grid: Array, mode: str, padding: str, align: int) -> Array:
    result: Array = torch.nn.functional.grid_sample(
        torch.from_numpy(image), torch.from_numpy(grid), MODES[mode], padding, bool(align)
    ).numpy()
    return result


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize(("dims", "mode", "padding"), CASES)
def test_places_that_are_not_finite(dims: int, mode: str, padding: str, align: int) -> None:
    image, grid = image_of(dims), places(dims, [0.3, *STRANGE])
    model = graph_of(
        "GridSample", [image, grid], mode=mode, padding_mode=padding, align_corners=align
    )
    same = dims == 2 and padding == "reflection" and mode != "cubic"
    found = (run if same else rewritten)(model, [image, grid])
    np.testing.assert_allclose(found, eager(image, grid, mode, padding, align), rtol=1e-5)


@pytest.mark.parametrize("padding", ["zeros", "border"])
@pytest.mark.parametrize(("dims", "mode"), [(2, "linear"), (2, "nearest"), (3, "linear")])
def test_places_far_outside(dims: int, mode: str, padding: str) -> None:
    image, grid = image_of(dims), places(dims, FAR)
    model = graph_of("GridSample", [image, grid], mode=mode, padding_mode=padding, align_corners=0)
    want = eager(image, grid, mode, padding, 0)
    np.testing.assert_allclose(rewritten(model, [image, grid]), want, rtol=1e-5)


def test_images_by_reflection_stay() -> None:
    image, grid = image_of(2), places(2, FAR)
    model = graph_of("GridSample", [image, grid], mode="linear", padding_mode="reflection")
    avoid_inexact_kernels(model, Declared({}, ()))
    assert operators(model) == ["GridSample"]


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_no_images(mode: str) -> None:
    image, grid = np.zeros((0, 3, 7, 6), np.float32), np.zeros((0, 8, 9, 2), np.float32)
    model = graph_of("GridSample", [image, grid], mode=mode, padding_mode="zeros")
    assert rewritten(model, [image, grid]).shape == (0, 3, 8, 9)
