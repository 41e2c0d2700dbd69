"""The spec of a ModelExport: what is exported, from where, to where, and how it is proved.

Every docstring and description here is read by users: it becomes the CRD's documentation
(`kubectl explain modelexport.spec`). Rules that cross fields live in `rules`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from modelexport_api.base import ApiModel
from modelexport_api.export import Export, Exporter, Rewrites, UnsupportedOps, Weights
from modelexport_api.inputs import Dim, DType, Input, InputKind
from modelexport_api.source import AddressingStyle, Code, Format, Model, Source, Storage
from modelexport_api.types import DimName, Finite, FreeForm, Identifier, Uri

__all__ = [
    "AddressingStyle",
    "Code",
    "DType",
    "Destination",
    "Dim",
    "Export",
    "Exporter",
    "Format",
    "Input",
    "InputKind",
    "Model",
    "ModelExportSpec",
    "Overwrite",
    "Provider",
    "Rewrites",
    "Source",
    "Storage",
    "Tolerance",
    "UnsupportedOps",
    "Verification",
    "Weights",
]


class Provider(StrEnum):
    """An onnxruntime execution provider."""

    CUDA = "CUDA"
    CPU = "CPU"


class Overwrite(StrEnum):
    """What happens to an artifact that is already at the destination."""

    IF_CHANGED = "IfChanged"
    ALWAYS = "Always"
    NEVER = "Never"


class Tolerance(ApiModel):
    """How far ONNX may be from eager PyTorch, for floating-point outputs."""

    rtol: Annotated[Finite, Field(ge=0, le=1)] = Field(
        default=0, description="Allowed error relative to the largest value of the output."
    )
    atol: Annotated[Finite, Field(ge=0)] = Field(default=0, description="Allowed absolute error.")


class Verification(ApiModel):
    """How it is proved that the artifact computes what the model computes."""

    provider: Provider | None = Field(
        default=None,
        description="Execution provider that must run the model; it fails as ProviderUnavailable "
        "where onnxruntime cannot use it. Absent: CUDA where there is a GPU, otherwise CPU.",
    )
    tolerance: Tolerance | None = Field(
        default=None,
        description="Absent: a limit for each dtype, relative to the largest value of the output.",
    )


class Destination(ApiModel):
    """Where the verified artifact is published."""

    uri: Uri = Field(
        description="Directory for model.onnx, its external data, report.json and manifest.json."
    )
    overwrite: Overwrite = Field(
        default=Overwrite.IF_CHANGED,
        description="IfChanged keeps an artifact of the same source and spec and replaces any "
        "other; Always exports anew; Never fails where another artifact lies.",
    )


class ModelExportSpec(ApiModel):
    """What is exported, from where, to where, and how it is proved. Immutable."""

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
    destination: Destination
    backoff_limit: Annotated[int, Field(ge=0, le=100)] = Field(
        default=3,
        description="How often a pod is started again after a failure that is nobody's mistake: "
        "a killed pod, an unreachable store. User errors are never retried.",
    )
    active_deadline_seconds: Annotated[int, Field(ge=1, le=2**31 - 1)] = Field(
        default=3600, description="Seconds after which the export is stopped, retries included."
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
