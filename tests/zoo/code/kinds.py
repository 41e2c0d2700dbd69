"""Modules whose forward takes more than tensors in a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

Tensor = torch.Tensor


class Keywords(nn.Module):
    """As models of language are called: everything by name, most of it left out."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(16, 4)
        self.types = nn.Embedding(2, 4)

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        *,
        inputs_embeds: Tensor | None = None,
        return_dict: bool | None = None,
    ) -> dict[str, Tensor | None]:
        states = self.embedding(input_ids) if inputs_embeds is None else inputs_embeds
        if token_type_ids is not None:
            states = states + self.types(token_type_ids)
        if attention_mask is not None:
            states = states * attention_mask[..., None]
        return {"states": states, "loss": None, "pooled": states.mean(1)}


class Batch(nn.Module):
    """Takes a dict and returns one."""

    def forward(self, batch: dict[str, Tensor], scale: Tensor) -> dict[str, Tensor]:
        return {"sum": batch["left"] + batch["right"], "scaled": batch["left"] * scale}


class State(NamedTuple):
    h: Tensor
    c: Tensor


class Step(nn.Module):
    """Takes and returns a NamedTuple inside of a tuple."""

    def forward(self, x: Tensor, states: tuple[State, State]) -> tuple[Tensor, State]:
        first, second = states
        h = torch.tanh(x * first.h + second.h)
        return h, State(h - first.c, second.c * 2)


class Layers(nn.Module):
    """Takes a cache of a layer each, as a list of dicts of tuples."""

    def forward(self, x: Tensor, cache: list[dict[str, tuple[Tensor, Tensor]]]) -> Tensor:
        for layer in cache:
            key, value = layer["pair"]
            x = x * key + value
        return x


class Optionals(nn.Module):
    def forward(self, x: Tensor, mask: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        if mask is not None:
            x = x * mask
        if bias is not None:
            x = x + bias
        return x


class Sequences(nn.Module):
    def forward(self, xs: list[Tensor], weight: Tensor) -> list[Tensor]:
        total = torch.zeros_like(weight)
        for x in xs:
            total = total + x * weight
        return [total, torch.cat(xs)]


class Numbers(nn.Module):
    def forward(self, x: Tensor, times: int, shift: float, double: bool) -> Tensor:
        return x.repeat(times, 1) * (1 + int(double)) + shift * times


class Branches(nn.Module):
    """Decides by its numbers, which only a script keeps."""

    def forward(self, x: Tensor, steps: int, threshold: float, flip: bool) -> Tensor:
        for _ in range(steps):
            x = x + 1
        if threshold > 0.5:
            x = x * 2
        if flip:
            x = -x
        return x


class Mode(nn.Module):
    def forward(self, x: Tensor, mode: str, factors: list[float], mask: Tensor | None) -> Tensor:
        if mask is not None:
            return x
        scaled = x * factors[0] + factors[1]
        return torch.relu(scaled) if mode == "relu" else torch.tanh(scaled)


class Variadic(nn.Module):
    def forward(self, *xs: Tensor, **named: Tensor) -> Tensor:
        return xs[0] - xs[1] * named.get("scale", torch.ones(()))


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Hide the signature, as decorators without functools.wraps do."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return function(*args, **kwargs)

    return wrapper


class Wrapped(nn.Module):
    @logged
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x - 2 * y


@dataclass
class Boxed:
    first: Tensor
    second: Tensor | None = None


class Boxes(nn.Module):
    """Takes a dataclass and returns one."""

    def forward(self, box: Boxed, gain: float = 2.0) -> Boxed:
        return Boxed(box.first * gain)


@dataclass
class Packed:
    y: Tensor
    extra: tuple[Tensor, Tensor | None]


class Packs(nn.Module):
    """Returns a dataclass that holds a tuple with None in it."""

    def forward(self, x: Tensor) -> Packed:
        return Packed(x * 2, (x.sum(1), None))


class Sized(nn.Module):
    """Slices by a number and returns a size."""

    def forward(self, x: Tensor, k: int) -> tuple[Tensor, Tensor]:
        return x[:, :k] * 2, x.sum(0)


class Padded(nn.Module):
    """Takes a tuple and a float, which JSON has as a list and an integer."""

    def forward(self, x: Tensor, pads: tuple[int, int], value: float) -> Tensor:
        return nn.functional.pad(x, pads, value=value)


class Scalars(nn.Module):
    """Takes tensors without dims, and returns a tensor and a number."""

    def forward(self, x: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
        return x * scale, scale + 1


class Complex(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.complex(x, x * 2)


class Labels(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, str]:
        return x * 2, "label"


class Ignoring(nn.Module):
    def forward(self, x: Tensor, unused: Tensor) -> Tensor:
        return x * 2


def boxed() -> tuple[tuple[Boxed], dict[str, float]]:
    return (Boxed(torch.randn(2, 4)),), {"gain": 3.0}


def tokens() -> tuple[tuple[()], dict[str, Any]]:
    ids = torch.randint(3, 11, (2, 5))
    return (), {"input_ids": ids, "attention_mask": torch.ones(2, 5, dtype=torch.int64)}


def numbers() -> tuple[Tensor, int, float, bool]:
    return torch.rand(2, 4), 3, 0.5, True


def one() -> Tensor:
    return torch.randn(2, 4)


def failing() -> None:
    raise RuntimeError("no example today")


def nothing() -> None:
    return None
