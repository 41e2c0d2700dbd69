"""Modules whose forward returns its tensors in containers of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class Normal(NamedTuple):
    """A container with names."""

    mean: Tensor
    scale: Tensor


@dataclass
class Found:
    """A container with names, of which torch knows nothing."""

    boxes: Tensor
    masks: Tensor | None = None
    parts: list[Tensor] | None = None


CONTAINERS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "Tensor": lambda y, _: y,
    "List": lambda y, z: [y, None, z],
    "Dict": lambda y, z: {"logits": y, "x": z},
    "NamedTuple": Normal,
    "Dataclass": lambda y, z: Found(y, None, [z, y + z]),
    "Nested": lambda y, z: (y, {"aux": z, "all": [y * z, {"sum": y + z}]}),
    "Twice": lambda y, _: {"first": y, "second": y},
}


class Returning(nn.Module):
    """Returns two tensors in a container."""

    def __init__(self, container: str) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self._container = container

    def forward(self, x: Tensor) -> Any:  # noqa: ANN401 - that is what it is for
        hidden = torch.tanh(self.layer(x))
        return CONTAINERS[self._container](hidden, hidden - x)


class Deciding(nn.Module):
    """Returns a dict, and decides by values."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        hidden = self.layer(x)
        if hidden.sum() > 0:
            hidden = torch.tanh(hidden)
        return {"hidden": hidden, "norm": hidden.square().mean()}


class Counting(nn.Module):
    """Returns a dict, and keeps a number between calls."""

    calls: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        self.calls += 1
        return {"next_calls": self.layer(x), "logits": x * self.calls}


def build(container: str) -> nn.Module:
    """Return the module."""
    special = {"Deciding": Deciding, "Counting": Counting}
    return special[container]() if container in special else Returning(container)
