"""Which operators there are, which sites they find in a file, and a file damaged at one."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import onnx

from mutants.mutations.graph import Array, Graph

Edit = tuple[str, Callable[[], None]]
"""Where, in words, and the damage to be done there."""
Find = Callable[[Graph], Iterator[Edit]]

OPERATORS: dict[str, Find] = {}
CONTROL = "control"
"""The operator whose mutants compute the same: they must not be refused."""


@dataclass(frozen=True)
class Mutant:
    """One operator applied at one site."""

    operator: str
    site: int
    """The position among the operator's sites."""
    where: str

    @property
    def name(self) -> str:
        return f"{self.operator} {self.where}"


def mutation(find: Find) -> Find:
    """Register an operator under its function's name."""
    OPERATORS[find.__name__] = find
    return find


def sites_of(model: onnx.ModelProto, observed: Mapping[str, Array]) -> dict[str, list[Mutant]]:
    """Return the mutants of each operator that applies to the file."""
    found: dict[str, list[Mutant]] = {}
    for name, find in OPERATORS.items():
        wheres = [" ".join(where.split()) for where, _ in find(Graph(_copy(model), observed))]
        if wheres:
            found[name] = [Mutant(name, site, where) for site, where in enumerate(wheres)]
    return found


def damaged(
    model: onnx.ModelProto, observed: Mapping[str, Array], mutant: Mutant
) -> onnx.ModelProto:
    """Return a damaged copy."""
    graph = Graph(_copy(model), observed)
    edits = list(OPERATORS[mutant.operator](graph))
    edits[mutant.site][1]()
    return graph.model


def rng_for(where: str) -> np.random.Generator:
    """Return a generator that depends on the site only."""
    return np.random.default_rng(zlib.crc32(where.encode()))


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy
