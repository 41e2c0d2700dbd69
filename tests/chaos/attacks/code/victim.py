"""The model that hostile code pretends to be: `build` runs an attack in each worker.

Uploaded as the model's code, so it imports nothing of the tests. It prints `RAN <name>` where an
attack ran, and `GOT-IN <what>` where it was allowed what it must not be.
"""

from __future__ import annotations

import inspect
import subprocess
from collections.abc import Callable

import torch

EXPORT, REFERENCE = "export", "reference"
Attack = Callable[[str, dict[str, str]], "torch.nn.Module | None"]


class Net(torch.nn.Module):
    """Affine, and with an error that hostile code hides."""

    def __init__(self, error: float = 0.0) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
        self.error = error

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Compute what the checkpoint says, or not."""
        return self.linear(x) + self.error


def role() -> str:
    """Say which worker this is; code can always find out."""
    files = {frame.filename.rpartition("/")[2] for frame in inspect.stack()}
    return EXPORT if files & {"export.py", "resident_exporter.py"} else REFERENCE


def build(attack: str, **aim: str) -> torch.nn.Module:
    """Attack, and return a model."""
    import exhaust
    import forge
    import inject
    import resident
    import steal
    import tamper

    attacks: dict[str, Attack] = {}
    for module in (steal, forge, tamper, exhaust, inject, resident):
        attacks |= module.ATTACKS
    own = role()
    print(f"RAN {attack} as {own}", flush=True)
    return attacks[attack](own, aim) or Net()


def tried(what: str, act: Callable[[], object]) -> None:
    """Do what must be refused, and say so if it was not."""
    try:
        found = act()
    except (OSError, ValueError, LookupError, RuntimeError, subprocess.SubprocessError) as error:
        print(f"refused {what}: {type(error).__name__}", flush=True)
        return
    print(f"GOT-IN {what}: {found!r:.300}", flush=True)
