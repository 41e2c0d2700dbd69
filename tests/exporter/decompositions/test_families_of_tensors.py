"""Operators on matrices, images and spectra, through export at other sizes than the capture's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from exporter.decompositions.families import (
    Functions,
    assert_computes_what_eager_computes,
    normal,
    regular,
)

linalg = torch.linalg


def _classes(x: Tensor) -> Tensor:
    return x.argmin(1)


def _round_trip(x: Tensor) -> Tensor:
    signal = torch.cat([x, 2 * x, -x, x, x + 1, x, x, 3 * x], 1)
    window = torch.hann_window(8)
    spectrum = torch.stft(signal, 8, 4, window=window, return_complex=True)
    return torch.istft(spectrum, 8, 4, window=window)


def _with_zero_diagonal(a: Tensor) -> Tensor:
    """Write through a view: what functions it needs, only torch's own decompositions show."""
    a = a.clone()
    a.diagonal(dim1=-2, dim2=-1).mul_(0.5)
    a.diagonal(1, -2, -1)[:] = 0
    return a


def _in_groups(x: Tensor) -> Tensor:
    """Multiply the first row by one matrix, none by the next, and the rest by the last."""
    rows = torch.cat([x, x], 1)[:, :4].contiguous()
    ends = torch.tensor([1, 1, 0]) + torch.tensor([0, 0, 1]) * (x[:, 0] == x[:, 0]).sum()
    return F.grouped_mm(rows, torch.arange(48.0).reshape(3, 4, 4), offs=ends.int())


MATRICES: Functions = {
    "diagonal": lambda a: torch.where(a < 0, torch.inf, a).diagonal(-1, -1, -2),
    "written diagonal": _with_zero_diagonal,
    "cholesky": lambda a: linalg.cholesky(a @ a.mT),
    "cholesky_solve": lambda a: torch.cholesky_solve(a, linalg.cholesky(a @ a.mT)),
    "inv": linalg.inv,
    "solve": lambda a: linalg.solve(a, a[..., :2] + 1),
    "solve_right": lambda a: linalg.solve(a, a + 1, left=False),
    "solve_triangular": lambda a: linalg.solve_triangular(a, a + 1, upper=True),
    "slogdet": linalg.slogdet,
    "logdet": lambda a: torch.logdet(a @ a.mT),
    "lu": linalg.lu,
    "qr": linalg.qr,
    "matrix_power": lambda a: linalg.matrix_power(a, -2),
    "matrix_power_0": lambda a: linalg.matrix_power(a, 0),
    "matrix_exp": linalg.matrix_exp,
    "pinv": linalg.pinv,
}
IMAGES: Functions = {
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=4),
    "avg_pool2d_ceil": lambda x: F.avg_pool2d(x, 2, 3, 1, ceil_mode=True, divisor_override=3),
    "avg_pool3d": lambda x: F.avg_pool3d(x, (1, 2, 2), divisor_override=3),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, (3, 4), return_indices=True),
    "adaptive_avg_pool3d": lambda x: F.adaptive_avg_pool3d(x[:, None, :, :4], (1, 2, 3)),
    "cropped": lambda x: F.interpolate(
        x[..., : min(x.shape[2:]), : min(x.shape[2:])], (4, 4), mode="bilinear", antialias=True
    ),
    "attention": lambda x: F.scaled_dot_product_attention(x[0], x[0], x[0], is_causal=True),
}
LOSSES: Functions = {
    "smoothed": lambda x: F.cross_entropy(x, _classes(x), label_smoothing=0.1),
    "smoothed_weighted": lambda x: F.cross_entropy(
        x, _classes(x), torch.tensor([1.0, 2.0, 3.0]), ignore_index=1, label_smoothing=0.1
    ),
    "probabilities": lambda x: F.cross_entropy(x, x.softmax(1)),
    "binary": lambda x: F.binary_cross_entropy_with_logits(40 * x, x.softmax(1)),
    "istft": _round_trip,
}


def _spectral(x: Tensor) -> Tensor:
    """Weigh the lowest frequencies, as neural operators do."""
    spectrum = torch.fft.rfft2(x)
    weights = torch.polar(torch.ones(2, 3, 2, 2), torch.arange(24.0).reshape(2, 3, 2, 2))
    kept = torch.zeros(x.shape[0], 3, *spectrum.shape[2:], dtype=torch.cfloat)
    kept[:, :, :2, :2] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :2, :2], weights)
    result: Tensor = torch.fft.irfft2(kept, s=(x.size(-2), 6))
    return result


def _rotary(x: Tensor) -> Tensor:
    """Turn pairs by angles that are looked up, as in the first Llama."""
    angles = torch.outer(torch.arange(40.0), torch.tensor([1.0, 0.1, 0.01]))
    turns = torch.polar(torch.ones_like(angles), angles)
    position = torch.arange(x.shape[2]).flip(0)
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], 3, 2))
    turned = pairs * turns[position].unsqueeze(0).unsqueeze(1)
    return torch.view_as_real(turned).flatten(3)


def _signal(x: Tensor) -> Tensor:
    """Return what a diagonal state space's kernel does to a signal."""
    state = torch.exp((-0.5 + 1j * torch.arange(3.0)).unsqueeze(-1) * torch.arange(6.0))
    kernel = torch.einsum("n,nl->l", torch.tensor([1 + 1j, 2.0, -1j]), state).real * 2
    product = torch.fft.rfft(x, n=12) * torch.fft.rfft(kernel, n=12)
    result: Tensor = torch.fft.irfft(product, n=12)
    return result[..., :6]


COMPLEX: Functions = {
    "spectral": _spectral,
    "rotary": _rotary,
    "signal": _signal,
    "masked": lambda x: torch.fft.fft(x).masked_fill(x > 0, 0).abs(),
}
SIZES: Functions = {
    "linspace": lambda x: torch.linspace(0, 1, x.shape[1]),
    "chunk": lambda x: x.chunk(2, 1)[0],
    "tensor_split": lambda x: x.tensor_split(2, 1)[0],
    "tril_indices": lambda x: torch.tril_indices(x.shape[0], x.shape[1]),
    "remainder": lambda x: x.shape[1] % (x[:, 0] > 0).sum().clamp(min=1) + 0 * x[:, 0].long(),
    "take_along_dim": lambda x: torch.take_along_dim(x, x.argsort(1), 1),
    "cov": torch.cov,
    "norm": lambda x: linalg.norm(x, keepdim=True),
    "repeat_interleave": lambda x: x[:, :2].repeat_interleave(
        torch.tensor([1, 3]), 1, output_size=4
    ),
    "grouped_mm": _in_groups,
    "matrix_norm": lambda x: linalg.matrix_norm(x, 1),
    "fill_diagonal": lambda x: x.clone().fill_diagonal_(3.0),
    "gaussian_nll": lambda x: F.gaussian_nll_loss(x, 2 * x, x.abs() + 0.1),
    "rfft": lambda x: torch.fft.rfft(x, n=8).abs(),
}
OPEN_MATRICES: Functions = {
    "inv": linalg.inv,
    "solve": lambda a: linalg.solve(a, a + 1),
    "solve_triangular": lambda a: linalg.solve_triangular(a, a + 1, upper=False),
}


@pytest.mark.parametrize(
    ("functions", "draw", "shape"),
    [
        pytest.param(MATRICES, regular, ["b", 4, 4], id="matrices"),
        pytest.param(OPEN_MATRICES, regular, ["s", "s"], id="matrices of any size"),
        pytest.param(IMAGES, normal, ["b", 2, "s", 6], id="images"),
        pytest.param(COMPLEX, normal, ["b", 2, "s", 6], id="complex numbers"),
        pytest.param(LOSSES, normal, ["b", 3], id="losses"),
        pytest.param(SIZES, normal, ["b", "s"], id="dynamic sizes"),
    ],
)
def test_a_family_computes_what_eager_computes(
    functions: Functions, draw: Callable[..., Tensor], shape: list[str | int]
) -> None:
    assert_computes_what_eager_computes(functions, draw, shape)
