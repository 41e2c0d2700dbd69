"""Attacks on who reads the log, the status and the report."""

from __future__ import annotations

import torch
from victim import Attack, Net

Aim = dict[str, str]
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"
ANSI = "\x1b[2J\x1b]0;owned\x07\x1b[31mred\r\n\x00\x9b31m\u202egnp.exe"


class _Raises(Net):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Fail."""
        raise ValueError(self.text)


class _Named(Net):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:  # type: ignore[override]
        """Name its output."""
        return {self.name: self.linear(x)}


class _Weights(Net):
    """Has a weight with a name of its own choice, which becomes that of an initializer."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.register_buffer(name, torch.zeros(3), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Use it."""
        return self.linear(x) + getattr(self, self.name)


def _raises(text: str) -> Attack:
    def attack(_role: str, _aim: Aim) -> None:
        raise RuntimeError(text)

    return attack


def _prints(text: str) -> Attack:
    def attack(_role: str, _aim: Aim) -> None:
        print(text)

    return attack


class _AwkwardError(Exception):
    def __str__(self) -> str:
        """Fail where it is described."""
        raise SystemExit(0)

    __repr__ = __str__


def awkward(_role: str, _aim: Aim) -> None:
    """Raise what cannot be described."""
    raise _AwkwardError


def exit_in_the_factory(_role: str, _aim: Aim) -> None:
    """Raise what is no Exception."""
    raise KeyboardInterrupt(ANSI)


ATTACKS: dict[str, Attack] = {
    "script in an exception": _raises(SCRIPT),
    "ANSI in an exception": _raises(ANSI),
    "megabytes in an exception": _raises("x" * 3_000_000),
    "ANSI in the output": _prints(ANSI),
    "surrogates in an exception": _raises("\udcff\ud800"),
    "script in forward": lambda _role, _aim: _Raises(SCRIPT + ANSI),
    "script in the name of an output": lambda _role, _aim: _Named(SCRIPT),
    "ANSI in the name of an output": lambda _role, _aim: _Named(ANSI),
    "path in the name of an output": lambda _role, _aim: _Named("../../outside/mine"),
    "name of a megabyte": lambda _role, _aim: _Named("n" * 1_000_000),
    "script in the name of a weight": lambda _role, _aim: _Weights(SCRIPT),
    "awkward exception": awkward,
    "interrupts itself": exit_in_the_factory,
}
