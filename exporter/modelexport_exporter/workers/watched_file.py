"""The file as one verification runs it: its session, and what each of its runs is watched for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.verification.comparator import Named, RunFile
from modelexport_exporter.verification.reference_model import ReferenceModel
from modelexport_exporter.verification.runtime.prepacking import why_not_prepacked
from modelexport_exporter.verification.runtime.session import Session
from modelexport_exporter.verification.seeking.file_sides import BRANCHING, sides_of_file
from modelexport_exporter.verification.seeking.size_decisions import size_decisions_of
from modelexport_exporter.verification.seeking.size_probe import may_decide_on_sizes
from modelexport_exporter.workers.output_shapes import OutputShapes

Array = NDArray[Any]


class WatchedFile:
    """The file of a task, with the shapes that its runs return and the sides that they take."""

    def __init__(self, task: ExportTask, converted: ConvertedModel, model: ReferenceModel) -> None:
        """Open the file with the weights of `model`, on the same provider."""
        self.unpacked = "" if model.on_gpu else why_not_prepacked(converted.files)
        """Why the session does not prepack weights; empty if it does."""
        prepack = not self.unpacked
        setup = model.plugins.session_setup()
        reference = model.reference

        def opened(path: Path) -> tuple[Session, RunFile]:
            session = Session(path, model.provider, prepack=prepack, setup=setup)
            return session, _runner(session, reference.weights(converted.weight_inputs))

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


def _runner(session: Session, weights: Mapping[str, Array]) -> RunFile:
    """Return a function that runs the file.

    Not a method: a session in a reference cycle would keep its memory until a garbage collection.
    """

    def run_file(arrays: Mapping[str, Array], where: str) -> Named:
        outputs = session.run({**arrays, **weights}, where)
        return list(zip(session.output_names, outputs, strict=True))

    return run_file
