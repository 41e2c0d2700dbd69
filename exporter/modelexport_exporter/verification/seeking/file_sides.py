"""The sides of If nodes that runs of the file take.

A script, and torch.cond, keep both sides of a branch on values. Each is a translation that may be
wrong: a side that no sample took was not compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.verification.seeking.probe_file import (
    Named,
    Opened,
    RunFile,
    open_probe,
)
from modelexport_exporter.verification.seeking.side_probe import probe_of
from modelexport_exporter.verification.seeking.value_conditions import (
    bodies,
    branching_nodes,
    in_translations,
    value_conditions,
)

Array = NDArray[Any]
Side = tuple[int, int]
"""The number of an If, and 0 for its then side, 1 for its else side."""

BRANCHING = frozenset({"If", "Loop", "Scan"})
"""Operators of a file that may have branches."""
_VARIANT = "sides.onnx"
_PASSING = frozenset({"Constant", "Identity"})
"""Operators of a side that computes nothing."""


class FileSides:
    """Which sides runs took, of a file that has If nodes whose conditions depend on inputs."""

    def __init__(self, graph: onnx.GraphProto, run: RunFile) -> None:
        """`run`: runs the probe of the file."""
        self._run = run
        self._names = [node.name or node.op_type for node in branching_nodes(graph)]
        by_values = value_conditions(graph)
        nodes = list(branching_nodes(graph))
        self._computing = {
            (number, side)
            for number, node in enumerate(nodes)
            for side, body in enumerate(bodies(node))
            if any(inner.op_type not in _PASSING for inner in body.node)
        }
        translated = in_translations(graph)
        self._by_values = {
            number
            for number, (decided, own) in enumerate(zip(by_values, translated, strict=True))
            if decided and not own
        }
        self._taken: set[Side] = set()

    @property
    def missing(self) -> list[Side]:
        """Return the sides that values decide on, that compute, and that no run took."""
        return sorted(side for side in self._computing - self._taken if side[0] in self._by_values)

    @property
    def is_open(self) -> bool:
        """Return whether a side that computes was not taken, whatever decides on it."""
        return not self._computing <= self._taken

    def reaches(self, arrays: Mapping[str, Array]) -> bool:
        """Return whether a run on these inputs takes a side that computes, for the first time."""
        return bool((self._sides_at(arrays) & self._computing) - self._taken)

    def watching(self, run_file: RunFile) -> RunFile:
        """Return the function, with the sides of each of its runs noted here."""

        def run(arrays: Mapping[str, Array], where: str) -> Named:
            outputs = run_file(arrays, where)
            if self.is_open:
                self._taken |= self._sides_at(arrays)
            return outputs

        return run

    def _sides_at(self, arrays: Mapping[str, Array]) -> set[Side]:
        try:
            ((_, counts),) = self._run(arrays, "the sides of its branches")
        except ExportFailure:
            return set()  # the file fails, too, where it is run
        return {(int(place) // 2, int(place) % 2) for place in np.flatnonzero(counts)}

    def describe(self, side: Side) -> str:
        """Return `the then side of the node /If_1`."""
        return f"the {('then', 'else')[side[1]]} side of the node {self._names[side[0]]}"


def sides_of_file(path: Path, opened: Opened) -> FileSides | None:
    """Return the sides of a file; None if it has no If. `opened` loads a file and runs it."""
    model = onnx.load(path, load_external_data=False)
    probe = probe_of(model)
    if probe is None:
        return None
    run = open_probe(probe, path.parent / _VARIANT, opened)
    return FileSides(model.graph, run) if run is not None else None
