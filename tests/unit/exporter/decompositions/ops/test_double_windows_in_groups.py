"""Convolutions of each group by a product against torch's own."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.decompositions.ops.double_windows import (
    convolve_windows,
    convolve_windows_transposed,
)

DIMS, FEW = st.integers(1, 3), st.integers(1, 2)
KERNELS = st.integers(1, 3)


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


@given(
    sizes=st.tuples(DIMS, FEW, FEW, FEW, KERNELS, FEW),
    padding=st.sampled_from([0, 1, 2, "valid"]),
    dilation=FEW,
    biased=st.booleans(),
)
def test_convolution(
    sizes: tuple[int, ...], *, padding: int | str, dilation: int, biased: bool
) -> None:
    dims, batch, channels, results, kernel, stride = sizes
    x = drawn(batch, 3 * channels, *range(6, 6 + dims))
    weight = drawn(3 * results, channels, *[kernel] * dims)
    bias = drawn(3 * results) if biased else None
    options = (weight, bias, stride, padding, dilation, 3)
    want = getattr(F, f"conv{dims}d")(x, *options)
    torch.testing.assert_close(convolve_windows(dims, x, *options), want, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        convolve_windows(dims, x[0], *options), want[0], rtol=1e-5, atol=1e-5
    )


@given(DIMS, KERNELS, FEW)
def test_same_padding(dims: int, kernel: int, dilation: int) -> None:
    x, weight = drawn(1, 6, *range(6, 6 + dims)), drawn(3, 2, *[kernel] * dims)
    want = getattr(F, f"conv{dims}d")(x, weight, None, 1, "same", dilation, 3)
    result = convolve_windows(dims, x, weight, None, 1, "same", dilation, 3)
    torch.testing.assert_close(result, want, rtol=1e-5, atol=1e-5)


@given(
    sizes=st.tuples(DIMS, FEW, FEW, FEW, KERNELS, st.integers(1, 3)),
    padding=st.integers(0, 2),
    dilation=FEW,
    biased=st.booleans(),
)
def test_transposed_convolution(
    sizes: tuple[int, ...], *, padding: int, dilation: int, biased: bool
) -> None:
    dims, batch, channels, results, kernel, stride = sizes
    x = drawn(batch, 3 * channels, *range(5, 5 + dims))
    weight = drawn(3 * channels, results, *[kernel] * dims)
    bias = drawn(3 * results) if biased else None
    options = (weight, bias, stride, padding, max(stride, dilation) - 1, 3, dilation)
    want = getattr(F, f"conv_transpose{dims}d")(x, *options)
    result = convolve_windows_transposed(dims, x, *options)
    torch.testing.assert_close(result, want, rtol=1e-5, atol=1e-5)
