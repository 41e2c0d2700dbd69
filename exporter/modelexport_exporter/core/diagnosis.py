"""The output of `modelexport diagnose`, for people and for programs."""

from __future__ import annotations

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.reasons import EXIT_CODES, ExitCode
from modelexport_api.spec import Dim, Exporter, Format
from modelexport_api.status import Failure, Support, TensorInfo
from modelexport_exporter.core.pitfall import PitfallKind


class DiagnosedOp(ApiModel):
    """An operator that a route cannot translate."""

    name: str = Field(description="With its overload, such as aten::erfinv.default.")
    count: int
    module: str = Field(description="Path of the nn.Module that uses it first.")
    source: str = Field(description="The line that uses it first, as file:line.")
    support: Support
    hint: str = Field(description="What to do.")
    skeleton_file: str = Field(description="The file name of a plugin for it.")
    skeleton: str = Field(description="The text of that plugin, ready to be filled in.")


class DiagnosedPitfall(ApiModel):
    """A line of the model that means something else in a graph."""

    kind: PitfallKind
    message: str
    source: str
    suggestion: str


class RouteDiagnosis(ApiModel):
    """The obstacles on one of the two routes to ONNX."""

    route: Exporter
    failure: Failure | None = Field(
        default=None, description="Why the graph cannot be captured, or a dim would specialise."
    )
    unsupported: list[DiagnosedOp] = Field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Return whether no obstacle was found on this route."""
        return self.failure is None and not self.unsupported


class Diagnosis(ApiModel):
    """What a manifest describes, and what would prevent its export."""

    format: Format | None = Field(default=None, description="What the checkpoint is.")
    factory: str | None = None
    model: str = Field(default="", description="The class of the module.")
    parameters: int = Field(default=0, description="How many numbers its weights are.")
    call: str = Field(default="", description="How forward is called.")
    inputs: list[TensorInfo] = Field(
        default_factory=list, description="The tensors that the file would take."
    )
    dims: dict[str, Dim] = Field(default_factory=dict)
    routes: list[RouteDiagnosis] = Field(default_factory=list)
    pitfalls: list[DiagnosedPitfall] = Field(default_factory=list)
    predicted_route: Exporter | None = Field(
        default=None, description="The route that `run` is expected to take; none: it would fail."
    )
    predicted_attempt: str | None = Field(
        default=None,
        description="Where neither route is open as such: the attempt that converts the model all "
        "the same, such as DynamoByValue with a graph for each side of a decision.",
    )
    failure: Failure | None = Field(
        default=None, description="Why the model could not even be looked at."
    )
    seconds: float = 0.0

    @property
    def hinders(self) -> bool:
        """Return whether the export is expected to fail."""
        random = any(found.kind is PitfallKind.NOT_DETERMINISTIC for found in self.pitfalls)
        return self.failure is not None or self.predicted_route is None or random

    @property
    def exit_code(self) -> ExitCode:
        """Return 0 without obstacles; a failure's own code if the model could not be examined."""
        if self.failure is not None:
            return EXIT_CODES.get(self.failure.reason, ExitCode.INTERNAL)
        return ExitCode.EXPORT if self.hinders else ExitCode.DONE
