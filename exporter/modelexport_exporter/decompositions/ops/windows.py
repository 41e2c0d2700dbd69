"""Windows of signals that ONNX, or torch's exporter, does not have."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.bessel_functions import i0
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Windows", __doc__)


def _centred(length: int, periodic: bool, device: torch.device | None) -> Tensor:
    """Return 2 k / steps - 1 for each place k, in double; a periodic window has a step more."""
    steps = length if periodic else length - 1
    return 2 * torch.arange(length, device=device).to(torch.float64) / max(steps, 1) - 1


def _angles(length: int, periodic: bool, device: torch.device | None) -> Tensor:
    """Return 2 pi k / steps for each place k, in double."""
    return (_centred(length, periodic, device) + 1) * math.pi


def _finished(window: Tensor, length: int, dtype: torch.dtype | None) -> Tensor:
    """Return the window in its dtype; one of a single place is 1."""
    found = torch.ones_like(window) if length == 1 else window
    return found.to(dtype or torch.float32)


@FAMILY.decomposes(
    "aten::hamming_window",
    "aten::hamming_window.periodic",
    "aten::hamming_window.periodic_alpha",
    "aten::hamming_window.periodic_alpha_beta",
    method="alpha - beta cos(2 pi k / n)",
    accuracy="1e-6 (float32)",
)
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: torch.dtype | None = None,
    layout: object = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    window = alpha - beta * torch.cos(_angles(window_length, periodic, device))
    return _finished(window, window_length, dtype)


@FAMILY.decomposes(
    "aten::blackman_window.periodic",
    defect="torch.onnx has no symmetric one",
    method="0.42 - 0.5 cos(2 pi k / n) + 0.08 cos(4 pi k / n)",
    accuracy="1e-6 (float32)",
)
def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: torch.dtype | None = None,
    layout: object = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    angles = _angles(window_length, periodic, device)
    window = 0.42 - 0.5 * torch.cos(angles) + 0.08 * torch.cos(2 * angles)
    return _finished(window, window_length, dtype)


@FAMILY.decomposes(
    "aten::bartlett_window",
    "aten::bartlett_window.periodic",
    method="1 - |2 k / n - 1|",
    accuracy="1e-6 (float32)",
)
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: torch.dtype | None = None,
    layout: object = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    window = 1 - _centred(window_length, periodic, device).abs()
    return _finished(window, window_length, dtype)


@FAMILY.decomposes(
    "aten::kaiser_window",
    "aten::kaiser_window.periodic",
    "aten::kaiser_window.beta",
    method="i0(beta sqrt(1 - t²)) / i0(beta)",
    accuracy="1e-6 (float32)",
)
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: torch.dtype | None = None,
    layout: object = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    t = _centred(window_length, periodic, device)
    root = torch.sqrt((1 - t * t).clamp(min=0.0))
    window = i0(beta * root) / i0(torch.full_like(root[:1], beta))
    return window.to(dtype or torch.float32)
