"""A run as data: steps that read and write values, of eager PyTorch or of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from modelexport_exporter.blame.fingerprint import Fingerprint


@dataclass(frozen=True)
class Step:
    """An ATen op that eager ran, or a node of the file."""

    op: str
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    module: str | None = None
    """The nn.Module's path; None where it is not known."""
    source: str = ""
    inner: bool = False
    """Whether it belongs to the decomposition of an op, which eager itself does not run."""


@dataclass
class Trace:
    """Steps in the order in which they ran; values are numbered."""

    steps: list[Step] = field(default_factory=list)
    prints: dict[int, Fingerprint] = field(default_factory=dict)
    """Fingerprints of the recorded values."""
    given: dict[int, Fingerprint] = field(default_factory=dict)
    """Fingerprints of the model's inputs, which are the same on both sides."""
    outputs: tuple[int, ...] = ()
    """The values that the model returns."""

    def producers(self) -> dict[int, int]:
        """Return the step that writes each value."""
        return {value: at for at, step in enumerate(self.steps) for value in step.outputs}

    def consumers(self) -> dict[int, list[int]]:
        """Return the steps that read each value."""
        found: dict[int, list[int]] = {}
        for at, step in enumerate(self.steps):
            for value in dict.fromkeys(step.inputs):
                found.setdefault(value, []).append(at)
        return found

    def leading_to(self, values: Iterable[int]) -> set[int]:
        """Return these values and all that they depend on."""
        producers, found, waiting = self.producers(), set[int](), list(values)
        while waiting:
            value = waiting.pop()
            if value in found:
                continue
            found.add(value)
            if value in producers:
                waiting.extend(self.steps[producers[value]].inputs)
        return found
