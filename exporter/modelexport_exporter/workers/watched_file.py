"""The file as one verification runs it: its session, and what each of its runs is watched for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from modelexport_exporter.core.providers import GPU
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.verification.comparator import Named, RunFile
from modelexport_exporter.verification.original import Original
from modelexport_exporter.verification.runtime.opened import OpenedFile, OpenFile
from modelexport_exporter.verification.runtime.prepacking import why_not_prepacked
from modelexport_exporter.verification.seeking.file_sides import BRANCHING, sides_of_file
from modelexport_exporter.verification.seeking.size_decisions import size_decisions_of
from modelexport_exporter.verification.seeking.size_probe import may_decide_on_sizes
from modelexport_exporter.workers.output_shapes import OutputShapes

Array = NDArray[Any]


class WatchedFile:
    """The file of a task, with the shapes that its runs return and the sides that they take."""

    def __init__(
        self,
        task: ExportTask,
        converted: ConvertedModel,
        original: Original,
        open_file: OpenFile,
    ) -> None:
        """Open the file with the weights of the original model, on the same provider."""
        provider = original.facts.provider
        self.unpacked = "" if provider in GPU else why_not_prepacked(converted.files)
        """Why the session does not prepack weights; empty if it does."""
        prepack = not self.unpacked
        keys = converted.weight_inputs
        weights = original.weights(keys) if keys else {}

        def opened(path: Path) -> tuple[OpenedFile, RunFile]:
            session = open_file(path, provider, prepack=prepack)
            return session, _runner(session, weights)

        def run_probe(path: Path) -> RunFile:
            return opened(path)[1]

        self.session, run_file = opened(converted.model_path)
        self.shapes = OutputShapes(task, converted, self.session, opened)
        self.run = self.shapes.watching(run_file)
        branches = not task.proven_graph and not BRANCHING.isdisjoint(converted.op_counts)
        self.sides = sides_of_file(converted.model_path, run_probe) if branches else None
        if self.sides is not None:
            self.run = self.sides.watching(self.run)
        compared = not task.proven_graph and may_decide_on_sizes(converted.op_counts)
        self.decisions = (
            size_decisions_of(converted.model_path, task.spec.inputs, run_probe)
            if compared
            else None
        )


def _runner(session: OpenedFile, weights: Mapping[str, Array]) -> RunFile:
    """Return a function that runs the file.

    Not a method: a session in a reference cycle would keep its memory until a garbage collection.
    """

    def run_file(arrays: Mapping[str, Array], where: str) -> Named:
        outputs = session.run({**arrays, **weights}, where)
        return list(zip(session.output_names, outputs, strict=True))

    return run_file
