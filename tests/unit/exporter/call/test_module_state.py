"""What calls change on a module is named, and can be undone."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from modelexport_exporter.call.module_state import ModuleState


class Part(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("bias", None)
        self.calls = 0
        self.last: torch.Tensor | None = None
        self.seen: list[torch.Tensor] = []
        self.cache: dict[int, torch.Tensor] = OrderedDict({0: torch.ones(1)})
        self.sizes = {1}
        self.recent = deque([torch.ones(1)])
        self.means = [torch.zeros(3), torch.zeros(3)]
        self.pairs = [(torch.zeros(2), torch.zeros(2))]
        self.hidden = (torch.zeros(2), torch.zeros(2))

    def forward(self, x: torch.Tensor, history: list[torch.Tensor] = []) -> torch.Tensor:  # noqa: B006
        history.append(x)
        return torch.stack(history).mean()


CHANGES: dict[str, Callable[[Any], object]] = {
    "buffer part.bias": lambda part: part.register_buffer("bias", torch.ones(2)),
    "buffer part.mask": lambda part: part.register_buffer("mask", torch.ones(2)),
    "attribute part.grid": lambda part: setattr(part, "grid", (torch.ones(2), 3)),
    "buffer part.count": lambda part: part.count.add_(1),
    "attribute part.calls": lambda part: setattr(part, "calls", 1),
    "attribute part.last": lambda part: setattr(part, "last", torch.ones(2)),
    "list part.seen": lambda part: part.seen.append(torch.ones(2)),
    "dict part.cache": lambda part: part.cache.setdefault(5, torch.ones(2)),
    "set part.sizes": lambda part: part.sizes.add(2),
    "deque part.recent": lambda part: part.recent.append(torch.ones(2)),
    "list part.means": lambda part: part.means[1][:2].add_(1),
    "list part.pairs": lambda part: part.pairs[0][1].add_(1),
    "attribute part.hidden": lambda part: setattr(part, "hidden", (torch.ones(2), torch.ones(2))),
    "default argument history": lambda part: part(torch.ones(2)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_named_and_undone(name: str) -> None:
    model = nn.ModuleDict({"part": Part()})
    before = ModuleState(model)
    assert before.changed(model) == []
    for _ in range(2):
        CHANGES[name](model["part"])
        assert before.changed(model) == [name]
        before.restore(model)
        assert before.changed(model) == []


def test_what_a_call_adds_is_gone_afterwards() -> None:
    part = Part()
    before = ModuleState(part)
    for name in ("mask", "grid"):
        CHANGES[next(own for own in CHANGES if own.endswith(name))](part)
        assert hasattr(part, name)
    CHANGES["buffer part.bias"](part)
    before.restore(part)
    assert not {"mask", "grid"} & {*dir(part)}
    assert part.get_buffer("count") is part.count
    assert list(dict(part.named_buffers())) == ["count"]
    assert vars(part)["_buffers"]["bias"] is None


def test_a_tensor_without_contents_is_a_change() -> None:
    part = Part()
    before = ModuleState(part)
    with FakeTensorMode():
        part.count = torch.zeros(())
    assert before.changed(part) == ["buffer count"]
    before.restore(part)
    assert torch.equal(part.count, torch.zeros(()))


def test_another_tensor_under_the_same_key_is_undone() -> None:
    part = Part()
    first, before = part.cache[0], ModuleState(part)
    part.cache[0] = torch.zeros(3)
    before.restore(part)
    assert part.cache[0] is first


def test_an_equal_tensor_in_its_place_is_no_change() -> None:
    part = Part()
    before = ModuleState(part)
    part.cache[0], part.hidden = torch.ones(1), (torch.zeros(2), torch.zeros(2))
    assert before.changed(part) == []


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_script_s_buffers_are_restored() -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = nn.Buffer(torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count.add_(1)
            return x * self.count

    script = torch.jit.script(Counts())
    before = ModuleState(script)
    script(torch.ones(1))
    assert before.changed(script) == ["buffer count"]
    before.restore(script)
    assert before.changed(script) == []
