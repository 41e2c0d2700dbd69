"""Defaults that Python makes once are found, and get their contents back."""

from __future__ import annotations

from collections import deque

import torch
from torch import nn

from modelexport_exporter.user_code.caches import bypassing_caches
from modelexport_exporter.user_code.mutable_defaults import keeping_defaults, mutable_defaults


def note(x: torch.Tensor, noted: dict[int, int] = {}) -> None:  # noqa: B006
    noted[len(noted)] = len(x)


class Base(nn.Module):
    @staticmethod
    def mean_of(x: torch.Tensor, *, last: deque[torch.Tensor] = deque()) -> torch.Tensor:  # noqa: B006
        last.append(x)
        return torch.stack(list(last)).mean()


class Keeps(Base):
    def forward(
        self,
        x: torch.Tensor,
        seen: list[torch.Tensor] = [],  # noqa: B006
        scale: float = 2.0,
        sizes: tuple[int, ...] = (),
    ) -> torch.Tensor:
        seen.append(x)
        note(x)
        return scale * x * len(seen) * self.mean_of(x) + len(sizes)


def test_they_are_found_and_given_back() -> None:
    model, x = nn.Sequential(nn.Linear(2, 2), Keeps()), torch.ones(3, 2)
    found = mutable_defaults(model)
    assert {*found} == {"seen", "last of mean_of", "noted of note"}
    with keeping_defaults(model):
        first = model(x)
        assert [len(held) for held in found.values()] == [1, 1, 1]
        assert not torch.equal(first, model(x))
    assert not any(found.values())
    with bypassing_caches(model, []):
        assert torch.equal(first, model(x))
    assert not any(found.values())
