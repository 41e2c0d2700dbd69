"""report.json: the complete record of an export.

Published with the artifact, and after a failure below `failed/`. It never holds secrets: the pod
template, where users put environment variables, is left out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.resource import ModelExport
from modelexport_api.status import (
    Artifact,
    ArtifactFile,
    Failure,
    Stage,
    VerificationResult,
)
from modelexport_exporter.core.inferred import Inferred
from modelexport_exporter.core.pitfall import PitfallKind
from modelexport_exporter.core.types import Rung
from modelexport_exporter.report.report_measured import Measured, ReportedInput
from modelexport_exporter.report.unpublished import UnpublishedFile


class StageTime(ApiModel):
    """How long a stage took."""

    stage: Stage
    seconds: float


class Finding(ApiModel):
    """Something obtained that differs from what was requested."""

    subject: str
    requested: str
    obtained: str


class ReportedPitfall(ApiModel):
    """A line of the model that led to a failure, and how it is better written."""

    kind: PitfallKind
    message: str
    source: str = ""
    suggestion: str = ""


class ReportedBlame(ApiModel):
    """The first node of the file that computes something else than eager PyTorch.

    `why_not` alone is there where none could be named.
    """

    sentence: str = ""
    node: str = ""
    op: str = ""
    aten: str = ""
    plugin: str = ""
    module: str = ""
    source: str = ""
    error_before: float | str | None = None
    error_after: float | str | None = None
    proven: bool = False
    among: list[str] = Field(default_factory=list)
    optimization: str = ""
    repro: list[str] = Field(default_factory=list)
    no_repro: str = ""
    why_not: str = ""


class TriedRung(ApiModel):
    """One way to ONNX that was tried, and how it ended."""

    rung: Rung
    seconds: float
    outcome: Literal["Verified", "Failed", "Deferred"]
    failure: Failure | None = None
    pitfalls: list[ReportedPitfall] = Field(default_factory=list)


class ComparedOutput(ApiModel):
    """One output of one sample. An error that is no number has the text of what it is."""

    output: str
    max_abs_error: float | str
    max_rel_error: float | str
    limit: float | str
    noise: float | str | None = None
    problem: str = ""
    inconclusive: str = ""


class ComparedSample(ApiModel):
    """One set of inputs: ONNX against eager."""

    dims: dict[str, int]
    seed: int
    values: str
    outputs: list[ComparedOutput]


class Environment(ApiModel):
    """Where the export ran."""

    versions: dict[str, str]
    python: str
    platform: str
    cpus: int
    gpus: list[str] = Field(default_factory=list)
    gpu_driver: str = ""
    gpu_libraries: dict[str, str] = Field(default_factory=dict)


class GraphModule(ApiModel):
    """A module of the original model, and what of the file it and its own modules are."""

    path: str
    module_class: str
    nodes: int
    parameters: int


class ReportSource(ApiModel):
    """The checkpoint."""

    uri: str
    fingerprint: str | None = None
    sha256: str | None = None
    files: list[ArtifactFile] = Field(default_factory=list)


class PointedInto(ApiModel):
    """A file of the checkpoint that the ONNX file points into."""

    name: str = Field(description="Under which it is published.")
    source: str = Field(description="Its name in the checkpoint.")
    tensors: int = Field(description="Weights of the ONNX file that are in it.")
    pointed_bytes: int = Field(description="Of these weights.")


class InCheckpoint(ApiModel):
    """Which weights are in the checkpoint's own bytes, for `export.weights: InCheckpoint`."""

    files: list[PointedInto]
    others: int = Field(description="Weights that the checkpoint does not have as they are.")
    other_bytes: int


class Report(ApiModel):
    """The content of report.json."""

    report_version: Literal[1] = 1
    outcome: Literal["Succeeded", "Failed"]
    name: str
    namespace: str | None = None
    uid: str | None = None
    spec: dict[str, Any]
    inferred: list[Inferred] = Field(default_factory=list)
    spec_sha256: str | None = None
    code_sha256: str | None = None
    source: ReportSource
    started: datetime
    finished: datetime
    stages: list[StageTime] = Field(default_factory=list)
    artifact: Artifact | None = None
    unpublished: UnpublishedFile | None = None
    operators: dict[str, int] = Field(default_factory=dict)
    modules: list[GraphModule] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    in_checkpoint: InCheckpoint | None = None
    attempts: list[TriedRung] = Field(default_factory=list)
    verification: VerificationResult | None = None
    samples: list[ComparedSample] = Field(default_factory=list)
    tried: list[ReportedInput] = Field(default_factory=list)
    blame: ReportedBlame | None = None
    left_out: list[str] = Field(default_factory=list)
    measured: Measured = Field(default_factory=Measured)
    environment: Environment
    peak_memory_bytes: int
    failure: Failure | None = None

    def encode(self) -> bytes:
        """Return the file's content."""
        return self.model_dump_json(by_alias=True, exclude_none=True, indent=2).encode()


def public_spec(resource: ModelExport) -> dict[str, Any]:
    """Return the spec without what may hold secrets."""
    spec = resource.spec.to_wire()
    spec.pop("podTemplate", None)
    return spec
