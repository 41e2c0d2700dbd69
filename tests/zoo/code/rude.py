"""Factories and modules that do to their process what they should not."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NoReturn

import torch
from torch import nn


class Plain(nn.Module):
    """One weight, so that one checkpoint fits every module here."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> object:
        return x * self.weight


class UnprintableError(Exception):
    def __str__(self) -> str:
        message = "no message"
        raise ValueError(message)


class Interruption(BaseException):
    pass


class _Lookup:
    @property
    def build(self) -> NoReturn:
        message = "not yet"
        raise RuntimeError(message)


lookup = _Lookup()


def wants_width(width: int) -> nn.Module:
    return nn.Linear(width, width)


def interrupts() -> NoReturn:
    raise KeyboardInterrupt


def raises_no_exception() -> NoReturn:
    message = "odd"
    raise Interruption(message)


def raises_unprintable() -> NoReturn:
    raise UnprintableError


def raises_half_a_character() -> NoReturn:
    message = "bad \udcff name"
    raise ValueError(message)


def closes_everything() -> nn.Module:
    os.closerange(0, 256)
    return Plain()


def ends_the_process() -> NoReturn:
    os._exit(0)


def hangs() -> NoReturn:
    while True:
        time.sleep(1)


def disturbs() -> nn.Module:
    """Everything at once that must not matter."""
    print("x" * 100_000)
    os.write(1, b"\xff\xfe no text\n" * 1000)
    os.chdir("/")
    os.environ.clear()
    sys.path.clear()
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=time.sleep, args=(600,)).start()
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
    return Plain()


class Exits(Plain):
    def forward(self, x: torch.Tensor) -> object:
        sys.exit(0)


class Ends(Plain):
    def forward(self, x: torch.Tensor) -> object:
        os._exit(3)


class Interrupts(Plain):
    def forward(self, x: torch.Tensor) -> object:
        raise KeyboardInterrupt


class Unprintable(Plain):
    def forward(self, x: torch.Tensor) -> object:
        raise UnprintableError


class Text(Plain):
    def forward(self, x: torch.Tensor) -> object:
        return x * self.weight, "label"


class Number(Plain):
    def forward(self, x: torch.Tensor) -> object:
        return x * self.weight, 3


class Nothing(Plain):
    def forward(self, x: torch.Tensor) -> object:
        return None


class Complex(Plain):
    def forward(self, x: torch.Tensor) -> object:
        return torch.fft.fft(x) * self.weight


def dies_in_verification() -> nn.Module:
    """End the process that builds the module after the export did."""
    first = Path(tempfile.gettempdir(), "first")  # of the run
    if first.exists() and first.read_text() != str(os.getpid()):
        os._exit(7)
    first.write_text(str(os.getpid()))
    return Plain()
