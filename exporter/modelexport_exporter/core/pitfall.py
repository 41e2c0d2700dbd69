"""A pitfall: a line of the model that means something else in a graph than in PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PitfallKind(StrEnum):
    """Kinds of pitfalls, by what goes wrong."""

    RANDOM = "Random"
    SIZE_BRANCH = "SizeBranch"
    SIZE_LOOP = "SizeLoop"
    SHAPE_ARITHMETIC = "ShapeArithmetic"
    LIST_APPEND = "ListAppend"
    STATE = "State"
    INPUT_WRITE = "InputWrite"
    TYPE_CHECK = "TypeCheck"
    EXPORT_BRANCH = "ExportBranch"
    PACKED_SEQUENCE = "PackedSequence"
    BAKED = "Baked"
    NOT_DETERMINISTIC = "NotDeterministic"


CERTAIN = frozenset({PitfallKind.BAKED, PitfallKind.NOT_DETERMINISTIC})
"""Kinds that were observed when the model ran, not only read in its code."""


@dataclass(frozen=True)
class Pitfall:
    """A line of the model, what is wrong with it, and how it is better written."""

    kind: PitfallKind
    message: str
    source: str
    """`model.py:17`; the module's path where no line is known."""
    suggestion: str
