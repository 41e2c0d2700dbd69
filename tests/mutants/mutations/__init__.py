"""Mutation operators: each damages an ONNX graph as a bug of a real exporter did, or could.

Guarantees that an operator is a pure function of the file and of what was observed when it ran on
the export's inputs, and that its sites come in a stable order, so that a mutant has a name.
"""

from mutants.mutations import attributes, numerics, shapes, weights, wiring
from mutants.mutations.registry import CONTROL, OPERATORS, Mutant, damaged, sites_of

__all__ = ["CONTROL", "OPERATORS", "Mutant", "damaged", "sites_of"]

_FILES = (attributes, numerics, shapes, weights, wiring)
"""Importing them registers their operators."""
