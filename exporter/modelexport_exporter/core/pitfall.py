"""What a pitfall is: a line that runs in PyTorch and does not mean the same in a graph."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PitfallKind(StrEnum):
    """The kinds of pitfalls, by what goes wrong."""

    NUMPY = "NumPy"
    RANDOM = "Random"
    PYTHON_NUMBER = "PythonNumber"
    DATA_BRANCH = "DataBranch"
    DATA_LOOP = "DataLoop"
    SIZE_BRANCH = "SizeBranch"
    SIZE_LOOP = "SizeLoop"
    SHAPE_ARITHMETIC = "ShapeArithmetic"
    LIST_APPEND = "ListAppend"
    STATE = "State"
    INDEX_READ = "IndexRead"
    INDEX_WRITE = "IndexWrite"
    INPUT_WRITE = "InputWrite"
    TYPE_CHECK = "TypeCheck"
    EXPORT_BRANCH = "ExportBranch"
    BAKED = "Baked"
    NOT_DETERMINISTIC = "NotDeterministic"
    GRADIENT = "Gradient"
    CAUGHT_ERROR = "CaughtError"
    THREAD = "Thread"
    QUANTIZED = "Quantized"


CERTAIN = frozenset({PitfallKind.BAKED, PitfallKind.NOT_DETERMINISTIC})
"""Kinds that were seen to go wrong when the model ran, not only read in its code."""


@dataclass(frozen=True)
class Pitfall:
    """A line of the model, what is wrong with it, and how it is better written."""

    kind: PitfallKind
    message: str
    source: str
    """`model.py:17`; the module's path where no line is known."""
    suggestion: str
