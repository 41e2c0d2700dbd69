"""Runs without contents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from modelexport_exporter.torch_internals.fake_tensors import FakeModule, fake_shapes


class Counting(nn.Module):
    """Keeps what it met."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.calls = torch.zeros(())

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.calls += 1
        self.last = x
        return self.linear(x), x[::2]


def called_with(n: int) -> Callable[[nn.Module], Any]:
    return lambda module: module(torch.empty(n, 4))


def test_shapes_are_those_of_a_run_and_the_module_stays_as_it_is() -> None:
    module = Counting()
    fake = FakeModule(module)
    for n in (1, 2, 7):
        returned = fake.run(called_with(n))
        assert fake_shapes(returned) == [tuple(t.shape) for t in Counting()(torch.ones(n, 4))]
    assert module.calls == 0
    assert not hasattr(module, "last")


def test_a_scripted_module() -> None:
    fake = FakeModule(torch.jit.script(nn.Linear(4, 3)))
    assert fake_shapes([fake.run(called_with(5))]) == [(5, 3)]


def test_a_shape_that_depends_on_contents_is_none() -> None:
    fake = FakeModule(nn.Identity())
    try:
        found = fake.run(lambda copied: copied(torch.empty(5, 4)).nonzero())
    except Exception:  # noqa: BLE001 - torch raises that it cannot know
        return
    assert fake_shapes([found]) is None
