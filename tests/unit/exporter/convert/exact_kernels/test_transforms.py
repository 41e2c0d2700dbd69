"""Inverse transforms of float64 are as exact as the forward ones."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from unit.exporter.convert.exact_kernels.graphs import Array, graph_of, operators, rewritten


def spectrum(size: int, dtype: type = np.float64) -> Array:
    return np.random.default_rng(size).normal(size=(2, size, 2)).astype(dtype)


@pytest.mark.parametrize("size", [1, 12, 13, 64, 100])
@pytest.mark.parametrize("opset", [17, 20])
def test_an_inverse_of_float64(size: int, opset: int) -> None:
    x = spectrum(size)
    if opset == 17:
        model = graph_of("DFT", [x], opset=opset, axis=1, inverse=1)
    else:
        model = graph_of("DFT", [x], {2: np.array(1)}, opset=opset, inverse=1)
    model.graph.inputs[0].shape = ir.Shape(x.shape)
    found = rewritten(model, [x])
    want = np.fft.ifft(x[..., 0] + 1j * x[..., 1], axis=1)
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], want, atol=1e-13)


def test_others_stay_as_they_are() -> None:
    for dtype, inverse in ((np.float32, 1), (np.float64, 0)):
        x = spectrum(12, dtype)
        model = graph_of("DFT", [x], {2: np.array(1)}, inverse=inverse)
        model.graph.inputs[0].shape = ir.Shape(x.shape)
        with pytest.raises(AssertionError, match="left as it is"):
            rewritten(model, [x])
        assert operators(model) == ["DFT"]
