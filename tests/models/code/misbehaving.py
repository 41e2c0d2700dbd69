"""Factories and modules that do what user code does when it goes wrong."""

from __future__ import annotations

import os
import signal
import sys
import time

import torch
from torch import nn


def raises() -> nn.Module:
    """Raise from within the factory."""
    raise RuntimeError("the vocabulary file is missing")


def exits() -> nn.Module:
    """End the interpreter."""
    sys.exit(3)


def exits_at_once() -> nn.Module:
    """End the process without a chance for anybody to clean up."""
    os._exit(3)


def crashes() -> nn.Module:
    """Die as a native library does."""
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError


def hangs(seconds: float = 3600.0) -> nn.Module:
    """Never come back, as far as a test is concerned."""
    time.sleep(seconds)
    return nn.Identity()


def allocates(gigabytes: float = 64.0) -> nn.Module:
    """Take memory until somebody objects."""
    taken = []
    for _ in range(int(gigabytes * 64)):
        taken.append(bytearray(os.urandom(1)) * (1 << 24))  # 16 MiB, every page written
        time.sleep(0.005)
    return nn.Identity()


def no_module() -> object:
    """Return something that is no torch.nn.Module."""
    return {"weights": 1}


class Slow(nn.Module):
    """A linear model that takes its time, once while it is built."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        time.sleep(seconds)
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the linear layer's output; x is [batch, 8]."""
        result: torch.Tensor = self.linear(x)
        return result


def slow(seconds: float = 20.0) -> nn.Module:
    """Return a model after a while: time to kill the pod in the middle."""
    return Slow(seconds)


class Random(nn.Module):
    """Dropout that eval mode does not switch off."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a linear layer's output with half of it dropped; x is [batch, 8]."""
        return nn.functional.dropout(self.linear(x), 0.5, training=True)


def random() -> nn.Module:
    """Return a model that never gives the same answer twice."""
    return Random()
