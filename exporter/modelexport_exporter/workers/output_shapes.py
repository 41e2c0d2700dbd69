"""The declared shapes of a file while it is verified: corrected, and compared at further sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.verification.original import Original
from modelexport_exporter.verification.runtime.opened import OpenedFile
from modelexport_exporter.verification.shapes.at_every_size import (
    ComparedShapes,
    compare_at_every_size,
    describe_shapes,
)
from modelexport_exporter.verification.shapes.declared import Declared
from modelexport_exporter.verification.shapes.observed import ObservedShapes, RunFile
from modelexport_exporter.workers.declare_outputs import Open, check_true, redeclare

SECONDS = 2.0
"""Time at most for shapes at sizes that did not run, but for the last run of the module."""


class OutputShapes:
    """The shapes that a file declares, and those that its runs return."""

    def __init__(
        self, task: ExportTask, converted: ConvertedModel, session: OpenedFile, opened: Open
    ) -> None:
        """Begin with what the file and its session state; `opened` loads another such file."""
        self._task, self._open = task, opened
        self.converted = converted
        self.stated: Mapping[str, Declared] = session.output_shapes
        """As the session infers them."""
        self._observed = ObservedShapes(tuple(task.spec.inputs))
        self._compared = ComparedShapes()

    def watching(self, run_file: RunFile) -> RunFile:
        """Return the function, with the shapes of each of its runs recorded here."""
        return self._observed.watching(run_file)

    def redeclare(self) -> bool:
        """Correct what the file declares; return whether to verify it again."""
        found = redeclare(self._task, self.converted, self.stated, self._observed, self._open)
        self.converted, self.stated = found.converted, found.session_shapes
        return found.verify_again

    def check(self) -> None:
        """Raise ExportFailure unless the declared shapes are those of all runs."""
        check_true(self.converted, self.stated, self._observed)

    def suspects(self, original: Original, named: Sequence[int]) -> tuple[dict[str, int], ...]:
        """Return sizes that did not run, at which the file seems to return another shape.

        `named`: numbers of the model, of which sizes come first.
        """
        if self._task.proven_graph or self._observed.smallest is None:
            return ()
        arrays, _ = self._observed.smallest
        self._compared = compare_at_every_size(
            self._task.spec,
            self.converted.model_path,
            {tensor.name: tuple(tensor.shape) for tensor in self.converted.outputs},
            self._observed.runs,
            eager=original.eager_shapes(arrays),
            seconds=SECONDS,
            named=named,
            clock=original.clock,
        )
        return self._compared.suspects

    def coverage(self) -> dict[str, str]:
        """Return `shapes at all` for dims of which not all sizes ran, by the name of the dim."""
        ran = [run.sizes for run in self._observed.runs]
        return describe_shapes(self._task.spec, ran, self._compared)
