"""Modules at computed places of a list, compiled by torch.jit.script: the same as in Python."""

# mypy: ignore-errors

from __future__ import annotations

import pytest
import torch
from torch import nn

from modelexport_exporter.convert.module_lists import lists_of_modules
from modelexport_exporter.torch_internals.script_annotations import readable_signatures


class Counting(nn.Module):
    """Changes its argument in place: a second run, or another module's, would show."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k
        self.inner = nn.Linear(4, 4)

    def forward(self, x):  # noqa: ANN001
        return x.add_(self.k) * 2


class Experts(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.experts = nn.ModuleList(Counting(k + 1) for k in range(count))


class Called(Experts):
    def forward(self, x, places):  # noqa: ANN001
        total = torch.zeros_like(x)
        with torch.no_grad():
            chosen = places.sort()[0]
        for e in chosen:
            total = total + self.experts[e](x.clone()) * self.experts[int(e)].inner(x.clone())
        return total, x


class Twice(Experts):
    def forward(self, x, places):  # noqa: ANN001
        for e in places.unsqueeze(1):
            layer = self.experts[e]
            e = e * 0  # noqa: PLW2901 - the place was read before
            x = layer(layer(x))
        for k in range(x.shape[0]):
            x = self.experts[-1 - k % 3](x)
        return x + self.experts[0](x)


class InAPart(Experts):
    def forward(self, x, places):  # noqa: ANN001
        return x if places.sum() < 0 else self.experts[int(places[0])](x)


class TwoLengths(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = Called(2), Called(3)

    def forward(self, x, places):  # noqa: ANN001
        return self.one(x, places)[0] + self.other(x, places)[0]


def compiled(model: nn.Module) -> torch.jit.ScriptModule:
    with readable_signatures({}, lists_of_modules(model)):
        return torch.jit.script(model)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_as_python(count: int) -> None:
    model = Called(count)
    script = compiled(model)
    for places in ([0], [-1], list(range(count)), [-count, count - 1], []):
        x, chosen = torch.randn(3, 4), torch.tensor(places, dtype=torch.int64)
        torch.testing.assert_close(script(x.clone(), chosen), model(x.clone(), chosen))


def test_a_name_of_a_module_keeps_its_place() -> None:
    model = Twice(3)
    script = compiled(model)
    for places in ([2, 0, 1], [-1], []):
        x, chosen = torch.randn(5, 4), torch.tensor(places, dtype=torch.int64)
        torch.testing.assert_close(script(x.clone(), chosen), model(x.clone(), chosen))


@pytest.mark.parametrize("model", [InAPart(2), TwoLengths()])
def test_what_may_not_run_or_has_two_lengths_is_left_alone(model: nn.Module) -> None:
    with pytest.raises(Exception, match="Expected integer literal"):
        compiled(model)


def test_lists_by_method() -> None:
    (lists,) = {tuple(lists.items()) for lists in lists_of_modules(Called(4)).values()}
    assert lists == (("experts", 4),)
    assert not any(lists_of_modules(TwoLengths()).values())
