"""The noise of a resampling covers onnxruntime's error, and is not far above it."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import helper

from modelexport_exporter.verification.numerics.random_rounding import with_random_rounding

MODES = {"linear": "bilinear", "cubic": "bicubic"}


def eager(x: torch.Tensor, size: int, mode: str, corners: bool) -> torch.Tensor:
    return torch.nn.functional.interpolate(
        x, size=(size, size), mode=MODES[mode], align_corners=corners
    )


def resized(x: torch.Tensor, size: int, mode: str, corners: bool) -> torch.Tensor:
    """Return what onnxruntime's Resize returns."""
    shape = np.array([*x.shape[:2], size, size])
    node = helper.make_node(
        "Resize",
        ["x", "", "", "size"],
        ["y"],
        mode=mode,
        cubic_coeff_a=-0.75,
        coordinate_transformation_mode="align_corners" if corners else "pytorch_half_pixel",
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, x.shape)],
        [helper.make_tensor_value_info("y", 1, None)],
        [onnx.numpy_helper.from_array(shape, "size")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return torch.from_numpy(session.run(None, {"x": x.numpy()})[0])


def noise(x: torch.Tensor, size: int, mode: str, corners: bool) -> float:
    want = eager(x, size, mode, corners)
    moved = [with_random_rounding(lambda: eager(x, size, mode, corners), seed) for seed in range(8)]
    return max(float((one - want).abs().max()) for one in moved)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize(("before", "after"), [(4, 12), (37, 100), (300, 113)])
def test_noise_is_the_error_of_another_kernel(
    mode: str, corners: bool, before: int, after: int
) -> None:
    torch.manual_seed(0)
    x = torch.rand(1, 3, before, before)
    error = float((resized(x, after, mode, corners) - eager(x, after, mode, corners)).abs().max())
    assert error < noise(x, after, mode, corners) < 5e-7 * max(before, after)


@pytest.mark.parametrize("size", [16, 4, 8])
def test_exact_places_have_no_noise_of_their_own(size: int) -> None:
    x = torch.rand(1, 3, 8, 8)
    assert noise(x, size, "linear", corners=False) < 3e-7
