"""How calls of operators end: plain values, without torch's database."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Case:
    """An entry in a dtype."""

    name: str
    dtype: str
    dynamic: bool = False
    """With a dim of several sizes."""

    @property
    def form(self) -> str:
        """The dtype, and whether a dim is dynamic."""
        return f"{self.dtype} dynamic" if self.dynamic else self.dtype

    def __str__(self) -> str:
        return f"{self.name} {self.form}"


class Outcome(StrEnum):
    """How a call ends."""

    RIGHT = "right"
    REFUSED = "refused"
    WRONG = "wrong"
    RANDOM = "random"
    """Eager draws random numbers, or returns memory as it is: nothing can be verified."""
    NO_TENSOR = "no tensor"
    """Eager returns something that is no tensor."""
    NO_EAGER = "no eager"
    """Eager itself raises an error on a CPU."""
    NO_DIM = "no dim"
    """No dim of the first tensor can have several sizes; of a case with a dynamic dim only."""
    NO_ELEMENTS = "no elements"
    """Eager returns tensors without elements, or of NaN alone: there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a call ended: with the product, and with bare `torch.onnx.export`."""

    case: Case
    place: int
    outcome: Outcome
    why: str
    bare: Outcome
