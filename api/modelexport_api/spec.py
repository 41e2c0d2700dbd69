"""The spec of a ModelExport: what is exported, from where, to where, and how it is proved.

Every docstring and description here is read by users: it becomes the CRD's documentation
(`kubectl explain modelexport.spec`). Rules that cross fields live in `rules`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from modelexport_api.base import ApiModel
from modelexport_api.destination import Destination, Layout, Overwrite
from modelexport_api.export import (
    Export,
    Exporter,
    Precision,
    Rewrites,
    UnsupportedOps,
    Weights,
)
from modelexport_api.inputs import Dim, DType, Input, InputKind
from modelexport_api.source import AddressingStyle, Code, Format, Model, Source, Storage
from modelexport_api.types import DimName, FreeForm, Identifier
from modelexport_api.verification import (
    ArtifactToVerify,
    Mode,
    Provider,
    Tolerance,
    Verification,
)

__all__ = [
    "AddressingStyle",
    "ArtifactToVerify",
    "Code",
    "DType",
    "Destination",
    "Dim",
    "Export",
    "Exporter",
    "Format",
    "Input",
    "InputKind",
    "Layout",
    "Mode",
    "Model",
    "ModelExportSpec",
    "Overwrite",
    "Precision",
    "Provider",
    "Rewrites",
    "Source",
    "Storage",
    "Tolerance",
    "UnsupportedOps",
    "Verification",
    "Weights",
]


class ModelExportSpec(ApiModel):
    """What is exported, from where, to where, and how it is proved.

    Immutable but for suspend and ttlSecondsAfterFinished.
    """

    mode: Mode = Field(
        default=Mode.EXPORT,
        description="Export: convert, verify, publish. Verify: check an artifact that exists "
        "against its checkpoint, on another runtime or GPU; only a report is published.",
    )
    source: Source
    storage: Storage = Field(default_factory=Storage)
    model: Model | None = Field(
        default=None,
        description="The module's factory, needed by formats that hold weights only; and the code "
        "that any format may need.",
    )
    inputs: list[Input] = Field(
        min_length=1, max_length=64, description="What the model takes, in order."
    )
    dims: dict[DimName, Dim] = Field(
        default_factory=dict, max_length=64, description="Dynamic dims by name."
    )
    outputs: list[Identifier] = Field(
        default_factory=list,
        max_length=256,
        description="Names of the outputs, in order. Absent: the exporter's names.",
    )
    export: Export = Field(default_factory=Export)
    verification: Verification = Field(default_factory=Verification)
    artifact: ArtifactToVerify | None = Field(
        default=None,
        description="What mode Verify checks. Absent: the artifact at destination.uri, with the "
        "digests that its manifest states.",
    )
    destination: Destination
    parallelism: Annotated[int, Field(ge=1, le=256)] = Field(
        default=1, description="A batch: how many pods share its checkpoints."
    )
    max_failed: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=0,
        description="A batch: how many checkpoints may fail before the whole is Failed. All are "
        "tried in any case, and those that verified are published.",
    )
    backoff_limit: Annotated[int, Field(ge=0, le=100)] = Field(
        default=3,
        description="How often a pod is started again after a failure that is nobody's mistake: "
        "a killed pod, an unreachable store. User errors are never retried. In a batch: for each "
        "pod's share.",
    )
    active_deadline_seconds: Annotated[int, Field(ge=1, le=2**31 - 1)] = Field(
        default=3600, description="Seconds after which the export is stopped, retries included."
    )
    pending_deadline_seconds: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = Field(
        default=None,
        description="Seconds after which an export fails whose first pod has not started, be it "
        "for want of a GPU or of quota in a queue. Time spent suspended by `suspend` does not "
        "count. Absent: it waits for ever.",
    )
    ttl_seconds_after_finished: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = Field(
        default=None,
        description="Seconds after which a finished ModelExport is deleted, its Job with it; what "
        "it published stays. May be changed. Absent: it is kept.",
    )
    suspend: bool = Field(
        default=False,
        description="Stop the work, or do not begin it, until this is false again. May be changed; "
        "what was published until then is not done again.",
    )
    service_account_name: Annotated[str, StringConstraints(max_length=253)] | None = Field(
        default=None,
        description="Service account of the pod, for an identity in S3. Its token is not mounted.",
    )
    pod_template: FreeForm | None = Field(
        default=None,
        description="Partial PodTemplateSpec, merged over the operator's defaults: image, "
        "resources, nodeSelector, tolerations, runtimeClassName, … The container is `exporter`.",
    )
