"""Modules whose forward takes more than tensors in a row."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class ConcatenateAll(nn.Module):
    """Takes a list of tensors."""

    def forward(self, parts: list[torch.Tensor]) -> torch.Tensor:
        return torch.cat(parts, dim=1) * 2.0


class Affine(nn.Module):
    """Takes an int, a float and a tensor."""

    def forward(self, x: torch.Tensor, times: int, shift: float) -> torch.Tensor:
        return x * times + shift


class Switched(nn.Module):
    """Takes a bool."""

    def forward(self, x: torch.Tensor, double: bool) -> torch.Tensor:
        return x * (1 + int(double))


class Mode(nn.Module):
    """Takes a str."""

    def forward(self, x: torch.Tensor, mode: str) -> torch.Tensor:
        if mode == "relu":
            return torch.relu(x)
        return torch.tanh(x)


class Nested(nn.Module):
    """Takes a dict, an optional tensor and a list of pairs, and returns a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(
        self,
        batch: dict[str, torch.Tensor],
        bias: torch.Tensor | None = None,
        *,
        cache: list[dict[str, torch.Tensor]],
    ) -> dict[str, torch.Tensor]:
        y = self.linear(batch["left"]) * batch["right"]
        if bias is not None:
            y = y + bias
        return {"sum": y + cache[0]["key"], "product": y * cache[0]["value"]}


class KeywordOnly(nn.Module):
    """Takes keyword arguments, in another order than they are declared."""

    def forward(self, x: torch.Tensor, *, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        return x * scale - shift


class Lstm(nn.Module):
    """Batch and length are free."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        y, (h, c) = self.lstm(x)
        return y, h, c


class Packed(nn.Module):
    """Packs the padded sequences, runs a GRU and pads again."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(6, 5, batch_first=True)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=False
        )
        _, state = self.gru(packed)
        return state[0]


def concatenate_all() -> nn.Module:
    return ConcatenateAll()


def affine() -> nn.Module:
    return Affine()


def switched() -> nn.Module:
    return Switched()


def mode() -> nn.Module:
    return Mode()


def nested() -> nn.Module:
    return Nested()


def keyword_only() -> nn.Module:
    return KeywordOnly()


def lstm() -> nn.Module:
    return Lstm()


def packed() -> nn.Module:
    return Packed()


def nested_example() -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments for Nested."""
    batch = {"left": torch.randn(3, 6), "right": torch.randn(3, 6)}
    cache = [{"key": torch.randn(3, 6), "value": torch.randn(3, 6)}]
    return (batch, torch.randn(3, 6)), {"cache": cache}


class Options(nn.Module):
    """Steps that are chosen by the bits of a number, which is not annotated."""

    def forward(self, x: torch.Tensor, options) -> torch.Tensor:  # type: ignore[no-untyped-def]
        for bit in range(4):
            if options & (1 << bit):
                x = x * (bit + 2)
            else:
                x = x - bit
        return x + (options >> 1) - (options | 4) + (options ^ 3)


class Steps(nn.Module):
    """A number of steps, of which a generator needs the value."""

    def forward(self, x: torch.Tensor, steps: int) -> torch.Tensor:
        for _ in range(steps):
            x = x - 0.1 * sum(torch.roll(x, shift, 1) for shift in (-1, 1))
        return x / (steps + 1)
