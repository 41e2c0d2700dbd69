"""Convolutions and pools by slices against torch's own."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.decompositions.ops.sliced_windows import (
    average,
    convolve_windows,
    convolve_windows_transposed,
    maximum,
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


def whole(*shape: int) -> torch.Tensor:
    return torch.randint(-9, 9, shape, generator=torch.Generator().manual_seed(1))


@given(st.tuples(st.integers(2, 3), KERNELS, FEW, FEW), st.booleans(), st.booleans())
def test_maximum_of_integers_and_its_first_place(
    sizes: tuple[int, ...], padded: bool, ceil: bool
) -> None:
    dims, kernel, stride, dilation = sizes
    x = whole(2, 2, *range(6, 6 + dims))
    options = (kernel, stride, kernel // 2 if padded else 0, dilation, ceil)
    pool = getattr(F, f"max_pool{dims}d")
    want, places = pool(x, *options, return_indices=True)
    result, found = maximum(dims, x, *options)
    assert torch.equal(result, want)
    assert torch.equal(found, places)


@given(st.tuples(DIMS, KERNELS), st.booleans(), st.booleans(), st.booleans())
def test_average_of_integers_drops_the_fraction(
    sizes: tuple[int, ...], padded: bool, ceil: bool, counted: bool
) -> None:
    dims, kernel = sizes
    x = whole(2, 2, *range(6, 6 + dims))
    options = (kernel, 2, kernel // 2 if padded else 0, ceil, counted)
    assert torch.equal(average(dims, x, *options), getattr(F, f"avg_pool{dims}d")(x, *options))


@given(DIMS, KERNELS, FEW, st.booleans())
def test_convolution_of_integers_is_exact(
    dims: int, kernel: int, stride: int, transposed: bool
) -> None:
    x, weight = whole(2, 4, *range(6, 6 + dims)), whole(4, 2, *[kernel] * dims)
    if transposed:
        want = getattr(F, f"conv_transpose{dims}d")(x, weight, None, stride, 0, 0, 2)
        assert torch.equal(
            convolve_windows_transposed(dims, x, weight, None, stride, 0, 0, 2), want
        )
    else:
        want = getattr(F, f"conv{dims}d")(x, weight, None, stride, 1, 1, 2)
        assert torch.equal(convolve_windows(dims, x, weight, None, stride, 1, 1, 2), want)
