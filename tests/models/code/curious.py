"""A model whose code looks for secrets wherever a process of its user can look."""

from __future__ import annotations

from pathlib import Path

import torch

SECRETS = (b"PRIVATE KEY", b"AWS_SECRET_ACCESS_KEY=")


class Curious(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear(x))


def found() -> list[str]:
    """Every process whose environment holds a secret, this one's included."""
    places = Path("/proc").glob("[0-9]*/environ")
    return [str(place) for place in places if any(secret in read(place) for secret in SECRETS)]


def read(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError:
        return b""


def build() -> torch.nn.Module:
    if places := found():
        raise RuntimeError(f"secrets lie in {places}")
    return Curious()
