"""For each call that is replaced while torch.export captures, one that it refuses or gets wrong."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from modelexport_exporter.torch_internals.symbolic_ranges import SizeRange
from repairs import options_of_sizes
from repairs.check import Call, Function
from repairs.options_of_sizes import IMAGE, ROWS, SIGNAL, VOLUME


class _Projected(nn.LSTM):
    def __init__(self) -> None:
        super().__init__(4, 5, proj_size=2)


NOISE = torch.randn(1200, generator=torch.Generator().manual_seed(0))
torch.manual_seed(0)
_LSTM = _Projected().eval()
_RNN = nn.RNN(4, 5).eval()
_RELU_RNN = nn.RNN(4, 5, nonlinearity="relu").eval()
_OF_DOUBLE = nn.LSTM(4, 5, bidirectional=True).double().eval()
_GRU_OF_DOUBLE = nn.GRU(4, 5, bidirectional=True, bias=False).double().eval()
_WITH_BIAS = nn.GRU(4, 5).double().eval()


def _crop(x: Tensor, rows: Tensor) -> Tensor:
    count = rows.item()
    torch._check(count >= 0)
    torch._check(count <= x.shape[2])
    return F.interpolate(x[:, :, :count], (4, 4), mode="bilinear", antialias=True)


def _without_negative(x: Tensor) -> Tensor:
    scores = x + 1
    scores.data.masked_fill_(x < 0, 0.0)
    return scores


def _doubled(x: Tensor) -> Tensor:
    scores = x + 1
    scores.data = scores.data * 2
    return scores


def _definite(x: Tensor) -> Tensor:
    return x @ x.mT + torch.eye(x.shape[0])


def _windows(x: Tensor) -> Tensor:
    padded = F.pad(x, (0, 0, 0, -x.shape[0] % 4))
    count: Any = torch.div(padded.shape[0], 4, rounding_mode="trunc")
    windows: Tensor = padded.view(count, 4, -1)
    return windows.sum(1)


def _repacked(total: int | None) -> Function:
    def repack(x: Tensor) -> tuple[Tensor, Tensor]:
        lengths = [x.shape[0], 2]
        return pad_packed_sequence(pack_padded_sequence(x, lengths), total_length=total)

    return repack


def _short_spectrum(x: Tensor) -> Tensor:
    return torch.view_as_real(torch.stft(x, 400, 160, return_complex=True))


def _polar(spectrum: Tensor) -> Tensor:
    """Return the sizes and the phases: those of negative numbers are pi or -pi."""
    return torch.stack([spectrum.abs(), spectrum.angle()])


def _conv(dims: int) -> Function:
    convolve = getattr(F, f"conv{dims}d")

    def with_each_ones_kernel(x: Tensor) -> Tensor:
        weight = torch.ones(2 * x.shape[1], 1, *[3] * dims).cumsum(0)
        result: Tensor = convolve(x, weight, None, 2, 1, 1, x.shape[1])
        return result

    return with_each_ones_kernel


def _max_pool(dims: int) -> Function:
    pool = getattr(F, f"max_pool{dims}d")
    return lambda x: pool(x, 3, 2, 1, ceil_mode=True)


def _avg_pool(dims: int) -> Function:
    pool = getattr(F, f"avg_pool{dims}d")
    return lambda x: pool(x, 3, 2, 1, ceil_mode=True)


def _conv_transpose(dims: int) -> Function:
    convolve = getattr(F, f"conv_transpose{dims}d")

    def restore(x: Tensor) -> Tensor:
        added = [(size + 1) % 2 for size in x.shape[2:]]
        weight = torch.ones(x.shape[1], 2, *[3] * dims)
        result: Tensor = convolve(x, weight, None, 2, 1, added)
        return result

    return restore


SPECTRUM = torch.arange(9.0 * 6).reshape(9, 6).sin()


def _restored_signal(x: torch.Tensor) -> torch.Tensor:
    spectrum = torch.complex(x, x)
    return torch.istft(spectrum, 16, 6, window=torch.hann_window(16), length=x.shape[1] * 6 - 8)


def _with_diagonal(x: Tensor) -> Tensor:
    y = torch.zeros(x.shape[0], x.shape[0])
    places: Any = (SizeRange(x.shape[0]), SizeRange(x.shape[0]))
    y[places] = x[:, 0]
    return y


_OF_ROWS: dict[str, Function] = {
    "arange": lambda x: torch.arange(0, x.shape[0] * 0.1, 0.1)[: x.shape[0]] + x[:, 0].sum(),
    "linspace": lambda x: torch.linspace(0, 1, x.shape[0]) + x[:, 0],
    "logspace": lambda x: torch.logspace(0, 1, x.shape[0]) + x[:, 0],
    "chunk": lambda x: x.chunk(2, 0),
    "tensor_split": lambda x: x.tensor_split(2, 0),
    "as_tensor": lambda x: torch.as_tensor([[*x.shape], (x.shape[0] // 2, 1)], dtype=torch.int32),
    "tensor": lambda x: torch.tensor(SizeRange(x.shape[0], 0, -1), dtype=torch.float32) + x[:, 0],
    "contiguous": lambda x: x.mT.contiguous().view(-1) + x.contiguous().view(-1),
    "index": lambda x: x[SizeRange(x.shape[0] - 1, -1, -1), 0] * 2,
    "index_put_": _with_diagonal,
    "asarray": lambda x: torch.asarray([x.shape[0] / 3, 1.5], dtype=torch.float64),
    "new_tensor": lambda x: x.new_tensor([x.shape[0] / 2, x.shape[1]]) / x.new_tensor(x.shape[0]),
    "div": _windows,
    "floor_divide": lambda x: x[: torch.floor_divide(x.shape[0], 2).item()] * 2,
    "tril_indices": lambda x: torch.tril_indices(x.shape[0], 4),
    "triu_indices": lambda x: torch.triu_indices(x.shape[0], 4),
    "pdist": lambda x: torch.pdist(x, 1.0),
    "combinations": lambda x: torch.combinations(x[:, 0], 3),
    "take_along_dim": lambda x: torch.take_along_dim(x, x.argsort(1), 1),
    "cdist": lambda x: torch.cdist(x, x + 1, p=3.0),
    "cov": torch.cov,
    "corrcoef": torch.corrcoef,
    "fill_diagonal_": lambda x: x.clone().fill_diagonal_(3.0),
    "gaussian_nll_loss": lambda x: F.gaussian_nll_loss(x, 2 * x, x.abs() + 0.1),
    "fft_fft": lambda x: _polar(torch.fft.fft(x, n=8, dim=0)),
    "fft_ifft": lambda x: torch.fft.ifft(x, n=8, dim=0),
    "fft_rfft": lambda x: _polar(torch.fft.rfft(x, n=8, dim=0)),
    "fft_irfft": lambda x: torch.fft.irfft(x, n=8, dim=0),
    "fft_hfft": lambda x: torch.fft.hfft(x, n=8, dim=0),
    "fft_ihfft": lambda x: _polar(torch.fft.ihfft(x, n=8, dim=0)),
    "fft_hfft2": lambda x: torch.fft.hfft2(x, s=(8, 4)),
    "fft_hfftn": lambda x: torch.fft.hfftn(x, norm="ortho"),
    "fft_ihfft2": lambda x: torch.fft.ihfft2(x, s=(8, 4)),
    "fft_ihfftn": lambda x: torch.fft.ihfftn(x, norm="forward"),
    "fft_fft2": lambda x: _polar(torch.fft.fft2(x, s=(8, 4))),
    "fft_fftn": lambda x: _polar(torch.fft.fftn(x, s=(x.shape[0] + 2, -1))),
    "fft_ifft2": lambda x: torch.fft.ifft2(x, s=(8, -1), norm="ortho"),
    "fft_ifftn": lambda x: torch.fft.ifftn(x, (8, 4)),
    "fft_rfft2": lambda x: _polar(torch.fft.rfft2(x, s=(8, 4))),
    "fft_rfftn": lambda x: _polar(torch.fft.rfftn(x, s=(8,), dim=(0,), norm="forward")),
    "fft_irfft2": lambda x: torch.fft.irfft2(torch.fft.rfft2(x), s=x.shape),
    "fft_irfftn": lambda x: torch.fft.irfftn(torch.fft.rfftn(x, norm="ortho"), norm="ortho"),
}
CALLS: dict[str, tuple[Function, Call]] = {
    **{name: (function, Call((ROWS,), open_dims=(0,))) for name, function in _OF_ROWS.items()},
    **options_of_sizes.CALLS,
    "linalg_matrix_norm": (
        lambda x: torch.linalg.matrix_norm(x, torch.inf),
        Call((ROWS,), open_dims=(0, 1)),
    ),
    "linalg_cholesky": (
        lambda x: torch.linalg.cholesky(_definite(x)),
        Call((ROWS,), open_dims=(0,)),
    ),
    "linalg_cholesky_ex": (
        lambda x: torch.linalg.cholesky_ex(_definite(x), upper=True),
        Call((ROWS,), open_dims=(0,)),
    ),
    "linalg_slogdet": (
        lambda x: torch.linalg.slogdet(_definite(x)),
        Call((ROWS,), open_dims=(0,)),
    ),
    "logdet": (lambda x: torch.logdet(_definite(x) * 1e9), Call((ROWS,), open_dims=(0,))),
    "linalg_det": (
        lambda x: torch.linalg.det(_definite(x).double()),
        Call((ROWS,), open_dims=(0,)),
    ),
    "data": (_without_negative, Call((ROWS,))),
    "set_data": (_doubled, Call((ROWS,))),
    "linalg_lstsq": (lambda x: torch.linalg.lstsq(x, x[:, :1]).solution, Call((ROWS,))),
    "stft": (_short_spectrum, Call((NOISE,))),
    "istft": (_restored_signal, Call((SPECTRUM,), open_dims=(1,))),
    "interpolate": (_crop, Call((IMAGE, torch.tensor(5)))),
    "conv1d": (_conv(1), Call((SIGNAL,), open_dims=(1,))),
    "conv2d": (_conv(2), Call((IMAGE,), open_dims=(1,))),
    "conv3d": (_conv(3), Call((VOLUME,), open_dims=(1,))),
    "conv_transpose1d": (_conv_transpose(1), Call((SIGNAL,), open_dims=(2,))),
    "conv_transpose2d": (_conv_transpose(2), Call((IMAGE,), open_dims=(2, 3))),
    "conv_transpose3d": (_conv_transpose(3), Call((VOLUME,), open_dims=(3, 4))),
    "max_pool1d": (_max_pool(1), Call((SIGNAL,), open_dims=(2,))),
    "max_pool2d": (_max_pool(2), Call((IMAGE,), open_dims=(2, 3))),
    "max_pool3d": (_max_pool(3), Call((VOLUME,), open_dims=(3, 4))),
    "avg_pool1d": (_avg_pool(1), Call((SIGNAL,), open_dims=(2,))),
    "avg_pool2d": (_avg_pool(2), Call((IMAGE,), open_dims=(2, 3))),
    "avg_pool3d": (_avg_pool(3), Call((VOLUME,), open_dims=(3, 4))),
    "lstm": (
        lambda x: torch.cat([_LSTM(x)[0], _OF_DOUBLE(x.double())[0].float()], -1),
        Call((ROWS[:, None],), open_dims=(0,)),
    ),
    "fake_quantize_per_tensor_affine": (
        lambda x: torch.fake_quantize_per_tensor_affine(
            x, torch.tensor(0.1), torch.tensor(3, dtype=torch.int32), -128, 127
        ),
        Call((ROWS,), open_dims=(0,)),
    ),
    "fake_quantize_per_channel_affine": (
        lambda x: torch.fake_quantize_per_channel_affine(
            x, torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.zeros(4, dtype=torch.int32), 1, 0, 255
        ),
        Call((ROWS,), open_dims=(0,)),
    ),
    "split": (
        lambda x: torch.cat(torch.split(torch.cat([x, x + 1]), x.shape[0]), 1),
        Call((ROWS,), open_dims=(0,)),
    ),
    "gru": (
        lambda x: torch.cat([_GRU_OF_DOUBLE(x)[0], _WITH_BIAS(x)[0]], -1),
        Call((ROWS[:, None].double(),), open_dims=(0,)),
    ),
    "rnn_tanh": (lambda x: _RNN(x)[0], Call((ROWS[:, None],), open_dims=(0,))),
    "rnn_relu": (lambda x: _RELU_RNN(x)[0], Call((ROWS[:, None],), open_dims=(0,))),
    "_pack_padded_sequence": (
        _repacked(None),
        Call((ROWS.reshape(5, 2, 2),), open_dims=(0,)),
    ),
    "_pad_packed_sequence": (
        _repacked(64),
        Call((ROWS.reshape(5, 2, 2),), open_dims=(0,)),
    ),
}
"""By the operator's name."""
