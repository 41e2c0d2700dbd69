"""The spec of a ModelExport: what to export, from where, to where, and how to verify it.

Every docstring and description here is user documentation: it becomes part of the CRD
(`kubectl explain modelexport.spec`). Cross-field rules are in `rules`.
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
from modelexport_api.isolation import Isolation, Network
from modelexport_api.source import AddressingStyle, Code, Format, Model, Source, Storage
from modelexport_api.types import DimName, FreeForm, Identifier, Shape
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
    "Isolation",
    "Layout",
    "Mode",
    "Model",
    "ModelExportSpec",
    "Network",
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
    """What to export, from where, to where, and how to verify it.

    Immutable, except suspend and ttlSecondsAfterFinished.
    """

    mode: Mode = Field(
        default=Mode.EXPORT,
        description="Export: convert, verify and publish. Verify: check an existing artifact "
        "against its checkpoint, for example on another runtime or GPU; only a report is "
        "published.",
    )
    source: Source
    storage: Storage = Field(default_factory=Storage)
    model: Model | None = Field(
        default=None,
        description="Factory of the module, required for formats that contain weights only; and "
        "the code that any format may need.",
    )
    inputs: list[Input] = Field(
        min_length=1, max_length=64, description="Inputs of the model, in order."
    )
    dims: dict[DimName, Dim] = Field(
        default_factory=dict, max_length=64, description="Dynamic dims by name."
    )
    outputs: list[Identifier] = Field(
        default_factory=list,
        max_length=256,
        description="Names of the outputs, in order. If not set: the keys and fields of what "
        "forward returns (`last_hidden_state`, `hidden_states.0`), else `output_0`, `output_1`.",
    )
    output_shapes: dict[Identifier, Shape] = Field(
        default_factory=dict,
        max_length=64,
        description="Shapes by the names of outputs: a number for each constant dim, a name from "
        "`dims` or an expression of one (`n - 1`), or another name for a size that depends on "
        "values, such as the number of boxes found. The file declares them, and the export fails "
        "with ContractViolated if a run returns another shape. Outputs without an entry get the "
        "shapes that the exporter finds.",
    )
    export: Export = Field(default_factory=Export)
    verification: Verification = Field(default_factory=Verification)
    artifact: ArtifactToVerify | None = Field(
        default=None,
        description="The artifact to check in mode Verify. If not set: the artifact at "
        "destination.uri, with the digests in its manifest.",
    )
    destination: Destination
    isolation: Isolation = Field(
        default=Isolation.PREFERRED,
        description="How the model's code is kept from files, credentials, processes and network "
        "that are not its own. Preferred: as far as the node's kernel can; the status says what "
        "was in force. Required: the export fails with IsolationUnavailable before the code runs "
        "if anything of it is missing (Linux 6.12 with Landlock and seccomp).",
    )
    parallelism: Annotated[int, Field(ge=1, le=256)] = Field(
        default=1, description="Number of pods that share the checkpoints of a batch."
    )
    max_failed: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=0,
        description="Maximum number of failed checkpoints of a batch before the ModelExport is "
        "marked Failed. All checkpoints are processed in any case, and those that pass "
        "verification are published.",
    )
    backoff_limit: Annotated[int, Field(ge=0, le=100)] = Field(
        default=3,
        description="Maximum number of retries after failures that are not user errors, such as "
        "a killed pod or an unreachable store. User errors are never retried. In a batch, the "
        "limit applies to each pod's share.",
    )
    active_deadline_seconds: Annotated[int, Field(ge=1, le=2**31 - 1)] = Field(
        default=3600,
        description="Stop the export this many seconds after its Job was started, including "
        "retries. The time counts although no pod has started yet, for example while no GPU is "
        "free; the status then states when it ends. Time in a queue does not count.",
    )
    pending_deadline_seconds: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = Field(
        default=None,
        description="Fail the export if no pod has started within this many seconds (for example "
        "no GPU, or no queue quota). Time during which `suspend` is true does not count. If not "
        "set, the export waits without limit.",
    )
    ttl_seconds_after_finished: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = Field(
        default=None,
        description="Delete the ModelExport and its Job this many seconds after it finished. "
        "Published files are kept. May be changed. If not set, the ModelExport is kept.",
    )
    suspend: bool = Field(
        default=False,
        description="Stop the work, or do not start it, until this is false again. May be "
        "changed. Artifacts that are already published are not exported again.",
    )
    service_account_name: Annotated[str, StringConstraints(max_length=253)] | None = Field(
        default=None,
        description="Service account of the pod, for its identity in S3. Its token is not mounted.",
    )
    pod_template: FreeForm | None = Field(
        default=None,
        description="Partial PodTemplateSpec, merged over the operator's defaults: image, "
        "resources, nodeSelector, tolerations, runtimeClassName and so on. The name of the "
        "container is `exporter`.",
    )
