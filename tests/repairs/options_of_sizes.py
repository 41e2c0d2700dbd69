"""Calls whose plain options are made of sizes, each refused or fixed by torch.export alone."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from repairs.check import Call, Function

ROWS = torch.arange(20.0).reshape(5, 4).sin()
SIGNAL = torch.arange(36.0).reshape(2, 2, 9).sin()
IMAGE = torch.arange(4.0 * 7 * 9).reshape(2, 2, 7, 9).sin()
VOLUME = torch.arange(4.0 * 5 * 7 * 9).reshape(2, 2, 5, 7, 9).sin()


def _adaptive_max(dims: int) -> Function:
    pool = getattr(F, f"adaptive_max_pool{dims}d")
    return lambda x: pool(x, [x.shape[-1] + 1] * dims)


def _spread(x: Tensor) -> Tensor:
    theta = torch.tensor([[[0.9, 0.1, 0.0], [0.2, 1.1, 0.3]]]).expand(x.shape[0], 2, 3)
    return F.affine_grid(theta, list(x.shape), align_corners=False)


_OF_ROWS: dict[str, Function] = {
    "one_hot": lambda x: F.one_hot(torch.arange(x.shape[0]), x.shape[0]) + x[:, :1],
    "unfold": lambda x: torch.cat([x, x]).unfold(0, x.shape[0] + 1, 1),
    "diagonal": lambda x: torch.diagonal(torch.cat([x, x], 1), x.shape[0] - 3),
    "diag": lambda x: torch.diag(torch.cat([x, x], 1), x.shape[0] - 3),
    "diag_embed": lambda x: torch.diag_embed(x, x.shape[0] - 3),
    "fft_fftfreq": lambda x: torch.fft.fftfreq(x.shape[0]) + x[:, 0],
    "fft_rfftfreq": lambda x: torch.fft.rfftfreq(2 * x.shape[0] - 1) + x[:, 0],
    "hann_window": lambda x: torch.hann_window(x.shape[0]) + x[:, 0],
    "hamming_window": lambda x: torch.hamming_window(x.shape[0]) + x[:, 0],
    "blackman_window": lambda x: torch.blackman_window(x.shape[0]) + x[:, 0],
    "histc": lambda x: torch.histc(x, x.shape[0], -1, 1) + x[:, 0],
    "vander": lambda x: torch.vander(x[:, 0], x.shape[0]),
    "kaiser_window": lambda x: torch.kaiser_window(x.shape[0]) + x[:, 0],
    "bartlett_window": lambda x: torch.bartlett_window(x.shape[0]) + x[:, 0],
}
CALLS: dict[str, tuple[Function, Call]] = {
    **{name: (function, Call((ROWS,), open_dims=(0,))) for name, function in _OF_ROWS.items()},
    "im2col": (lambda x: F.unfold(x, (x.shape[2], 3)), Call((IMAGE,), open_dims=(2,))),
    "col2im": (
        lambda x: F.fold(F.unfold(x, (3, 2), 1, 1, 2), x.shape[2:], (3, 2), 1, 1, 2),
        Call((IMAGE,), open_dims=(2, 3)),
    ),
    "affine_grid": (_spread, Call((IMAGE,), open_dims=(2, 3))),
    "adaptive_avg_pool1d": (
        lambda x: F.adaptive_avg_pool1d(x, x.shape[2] // 2),
        Call((SIGNAL,), open_dims=(2,)),
    ),
    "adaptive_max_pool1d": (_adaptive_max(1), Call((SIGNAL,), open_dims=(2,))),
    "adaptive_max_pool2d": (_adaptive_max(2), Call((IMAGE,), open_dims=(2, 3))),
    "adaptive_max_pool3d": (_adaptive_max(3), Call((VOLUME,), open_dims=(3, 4))),
}
