"""Why forward refused a guess: the op that raised, its tensors, and the numbers that it named."""

from __future__ import annotations

import re
from dataclasses import dataclass

Shape = tuple[int, ...]
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.]*\d)")
_LARGEST = 1 << 20


@dataclass(frozen=True)
class Refusal:
    """A call of forward that raised."""

    text: str
    """`ValueError: …`, in one line."""
    ops: int = 0
    """ATen ops that ran before."""
    op: str = ""
    """The ATen op that raised, `convolution`; empty where other code did."""
    activations: tuple[Shape, ...] = ()
    """Shapes of its tensors that depend on the inputs."""
    weights: tuple[Shape, ...] = ()
    """Shapes of its tensors that are parameters or buffers."""
    stated: tuple[int, ...] = ()
    """Integers among its other arguments: the new shape of a view."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the integers in the text, in order."""
        found = (int(text) for text in _NUMBER.findall(self.text))
        return tuple(dict.fromkeys(number for number in found if number <= _LARGEST))
