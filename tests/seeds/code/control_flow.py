"""Modules with if, for and while over data, scripted or not."""

from __future__ import annotations

import torch
from torch import nn


class Branch(nn.Module):
    """Takes another way for positive sums."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return torch.relu(self.linear(x))
        return self.linear(x) - 1.0


class CountedLoop(nn.Module):
    """Repeats as often as a tensor says."""

    def forward(self, x: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
        for _ in range(int(times)):
            x = x * 1.5 + 0.25
        return x


class WhileLoop(nn.Module):
    """Halves until the largest value is small."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while bool(x.abs().max() > 1.0):
            x = x * 0.5
        return x


class LoopOverRows(nn.Module):
    """Collects results of a loop over a dynamic dim in a list."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = torch.zeros_like(x[0])
        rows: list[torch.Tensor] = []
        for row in range(x.size(0)):
            state = torch.tanh(x[row] + 0.5 * state)
            rows.append(state)
        return torch.stack(rows)


class FixedLoop(nn.Module):
    """Unrolls: the number of rounds is a Python number."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


@torch.jit.script
def clipped_where_large(x: torch.Tensor, limit: float) -> torch.Tensor:
    """Branch on data: scripted, so that a trace keeps both ways."""
    if bool(x.abs().max() > limit):
        return torch.clamp(x, -limit, limit)
    return x * 2.0


class ScriptInTrace(nn.Module):
    """A plain module that calls a scripted function and holds a scripted submodule."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.loop = torch.jit.script(WhileLoop())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.loop(clipped_where_large(self.linear(x), 1.5))
        return y


class TraceInScript(nn.Module):
    """A module to be scripted that holds a traced submodule."""

    def __init__(self) -> None:
        super().__init__()
        self.traced = torch.jit.trace(nn.Linear(6, 6), torch.ones(2, 6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if bool(x.sum() > 0):
            return self.traced(x) + 1.0
        return self.traced(x)


def branch() -> nn.Module:
    return Branch()


def counted_loop() -> nn.Module:
    return CountedLoop()


def while_loop() -> nn.Module:
    return WhileLoop()


def loop_over_rows() -> nn.Module:
    return LoopOverRows()


def fixed_loop() -> nn.Module:
    return FixedLoop()


def script_in_trace() -> nn.Module:
    return ScriptInTrace()


def scripted_trace() -> nn.Module:
    scripted: nn.Module = torch.jit.script(TraceInScript())
    return scripted


def scripted_branch() -> nn.Module:
    scripted: nn.Module = torch.jit.script(Branch())
    return scripted


def script_function() -> object:
    return clipped_or_doubled


def script_function_of_two() -> object:
    return mixed_in_rounds


@torch.jit.script
def mixed_in_rounds(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = torch.zeros_like(x)
    for step in range(3):
        total = total + x * float(step)
    if bool(y.max() > 1.0):
        total = total - y
    return total, y.sum(1)


@torch.jit.script
def clipped_or_doubled(x: torch.Tensor) -> torch.Tensor:
    if bool(x.sum() > 0):
        return torch.clamp(x, -0.5, 0.5)
    return x * 2.0
