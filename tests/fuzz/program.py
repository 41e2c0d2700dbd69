"""A forward method that grows line by line: a line stays if it runs at every probed size.

No rule of shapes or dtypes is written down. A line is executed in one environment for each probe
(sizes and values of the inputs), and the values that it returns say what may follow.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional

LARGEST = 6_000
"""Elements of a value."""
_PEAKS = {torch.float16: 2e3, torch.float32: 1e7, torch.float64: 1e13}
"""Larger numbers say little: the next operator overflows."""
GLOBALS: dict[str, Any] = {
    "torch": torch,
    "math": math,
    "nn": torch.nn,
    "F": torch.nn.functional,
}

Environment = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Statement:
    """Lines of forward that bind one name."""

    name: str
    text: str
    reads: frozenset[str]


@dataclass
class Program:
    """The lines that ran so far, and the values of each name at each probe."""

    environments: list[Environment]
    statements: list[Statement] = field(default_factory=list)
    layers: dict[str, str] = field(default_factory=dict)
    """Attributes of the module, with the expressions that make them."""
    module: torch.nn.Module = field(default_factory=torch.nn.Module)

    @classmethod
    def begin(cls, probes: Sequence[Mapping[str, torch.Tensor]]) -> Program:
        """Return a program without lines, whose names are the inputs."""
        program = cls([dict(probe) for probe in probes])
        for environment in program.environments:
            environment["self"] = program.module
        return program

    def values(self, name: str) -> list[Any]:
        """Return what a name is bound to at each probe."""
        return [environment[name] for environment in self.environments]

    def tensors(self, *dtypes: torch.dtype) -> list[str]:
        """Return the names of tensors of the dtypes, the latest last."""
        return [
            name
            for name, value in self.environments[0].items()
            if isinstance(value, torch.Tensor) and (not dtypes or value.dtype in dtypes)
        ]

    def sizes(self) -> list[str]:
        """Return the names of Python integers."""
        return [
            name
            for name, value in self.environments[0].items()
            if isinstance(value, int) and not isinstance(value, bool)
        ]

    def static_size(self, name: str, dim: int) -> int | None:
        """Return the size of a dim that is the same at every probe, or nothing."""
        found = {value.shape[dim] for value in self.values(name) if value.ndim > 0}
        return found.pop() if len(found) == 1 else None

    def add_layer(self, name: str, expression: str) -> None:
        """Make an attribute of the module."""
        made = eval(expression, GLOBALS)  # the generator's own text
        if isinstance(made, torch.Tensor):
            self.module.register_buffer(name, made)
        else:
            setattr(self.module, name, made.eval() if isinstance(made, torch.nn.Module) else made)
        self.layers[name] = expression

    def drop_layer(self, name: str) -> None:
        """Forget an attribute that no line uses."""
        delattr(self.module, name)
        del self.layers[name]

    def try_line(self, name: str, text: str, reads: frozenset[str]) -> bool:
        """Execute lines that bind the name; keep them if they do at every probe."""
        found = [_execute(text, environment, name) for environment in self.environments]
        if not _usable(found):
            return False
        for environment, value in zip(self.environments, found, strict=True):
            environment[name] = value
        self.statements.append(Statement(name, text, reads))
        return True

    def needed(self, outputs: Sequence[str]) -> list[Statement]:
        """Return the statements that outputs depend on, in order."""
        wanted = set(outputs)
        kept: list[Statement] = []
        for statement in reversed(self.statements):
            if statement.name in wanted:
                kept.append(statement)
                wanted |= statement.reads
        return kept[::-1]


def _execute(text: str, environment: Environment, name: str) -> Any:  # noqa: ANN401
    """Return what the name is bound to; None where the lines fail."""
    names = dict(environment)
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(text, GLOBALS, names)  # the generator's own text
    except Exception:  # noqa: BLE001 - whatever torch raises: the line is not kept
        return None
    return names.get(name)


def _usable(found: Sequence[Any]) -> bool:
    """Return whether values of all probes are of one kind, and not too large."""
    if all(isinstance(value, int) and 0 <= value < 10**7 for value in found):
        return True
    if not all(isinstance(value, torch.Tensor) for value in found):
        return False
    if len({(value.dtype, value.ndim) for value in found}) != 1:
        return False
    if max(value.numel() for value in found) > LARGEST or not any(v.numel() for v in found):
        return False
    return all(_ordinary(value) for value in found)


def _ordinary(value: torch.Tensor) -> bool:
    """Return whether numbers are not NaN in the main, and have a useful magnitude."""
    peak = _PEAKS.get(value.dtype)
    if peak is None or not value.numel():
        return not value.is_complex()
    finite = value.isfinite()
    if finite.double().mean() < 0.5:
        return False
    return bool(value[finite].abs().max() < peak)
