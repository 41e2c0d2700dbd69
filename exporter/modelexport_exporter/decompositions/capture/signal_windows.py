"""Windows of signals as long as a dynamic dim, whose length torch.export takes for a constant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from modelexport_exporter.decompositions.capture.registry import (
    Call,
    Replacements,
    Result,
    is_open,
)
from modelexport_exporter.decompositions.ops.bessel_functions import i0

CALLS = Replacements()


def _places(length: int, periodic: bool, device: Any) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: ANN401
    """Return where each place lies from 0 to 1, in double, and whether there is one place only."""
    places = torch.arange(length, dtype=torch.float64, device=device)
    count = torch.ones_like(places) * length
    return places / (count if periodic else (count - 1).clamp(min=1)), count == 1


def _cosines(at: torch.Tensor, terms: Sequence[float]) -> torch.Tensor:
    waves = [term * torch.cos(2 * math.pi * k * at) for k, term in enumerate(terms)]
    return sum(waves[1:], start=waves[0])


def _sum_of_cosines(terms: Sequence[float]) -> Call:
    def window(window_length: int, periodic: bool = True, **options: Any) -> Result:  # noqa: ANN401
        if not is_open(window_length):
            return NotImplemented
        at, alone = _places(window_length, periodic, options.get("device"))
        values = torch.where(alone, 1.0, _cosines(at, terms))
        return values.to(options.get("dtype") or torch.get_default_dtype())

    return window


@CALLS.replaces("hamming_window", torch.hamming_window)
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **options: Any,  # noqa: ANN401
) -> Result:
    return _sum_of_cosines((alpha, -beta))(window_length, periodic, **options)


@CALLS.replaces("bartlett_window", torch.bartlett_window)
def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Result:  # noqa: ANN401
    if not is_open(window_length):
        return NotImplemented
    at, alone = _places(window_length, periodic, options.get("device"))
    values = torch.where(alone, 1.0, 1 - (2 * at - 1).abs())
    return values.to(options.get("dtype") or torch.get_default_dtype())


CALLS.replaces("hann_window", torch.hann_window)(_sum_of_cosines((0.5, -0.5)))
CALLS.replaces("blackman_window", torch.blackman_window)(_sum_of_cosines((0.42, -0.5, 0.08)))


@CALLS.replaces("kaiser_window", torch.kaiser_window)
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    **options: Any,  # noqa: ANN401
) -> Result:
    if not is_open(window_length):
        return NotImplemented
    at, alone = _places(window_length, periodic, options.get("device"))
    root = torch.sqrt((at * (1 - at)).clamp(min=0.0)) * 2
    values = torch.where(alone, 1.0, i0(beta * root) / i0(torch.full_like(root[:1], beta)))
    return values.to(options.get("dtype") or torch.get_default_dtype())
