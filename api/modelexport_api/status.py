"""The status of a ModelExport: the whole truth, for people and for machines."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.items import Items
from modelexport_api.reasons import Reason


class Stage(StrEnum):
    """The stages of an export, in order."""

    FETCH = "Fetch"
    LOAD = "Load"
    CAPTURE = "Capture"
    CONVERT = "Convert"
    CONTRACT = "Contract"
    VERIFY = "Verify"
    PUBLISH = "Publish"


class Phase(StrEnum):
    """A summary of the conditions for people."""

    PENDING = "Pending"
    QUEUED = "Queued"
    SUSPENDED = "Suspended"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


class Verdict(StrEnum):
    """Whether the artifact computes what the model computes."""

    VERIFIED = "Verified"
    MISMATCH = "Mismatch"
    ILL_CONDITIONED = "IllConditioned"


class ConditionType(StrEnum):
    """The conditions of a ModelExport. Exactly one of Complete and Failed ends it."""

    SCHEDULED = "Scheduled"
    EXPORTED = "Exported"
    VERIFIED = "Verified"
    PUBLISHED = "Published"
    COMPLETE = "Complete"
    FAILED = "Failed"


class Condition(ApiModel):
    """A condition as in metav1.Condition."""

    type: str = Field(description="Scheduled, Exported, Verified, Published, Complete or Failed.")
    status: Literal["True", "False", "Unknown"] = Field(description="True, False or Unknown.")
    reason: str = Field(description="Why, as one CamelCase word.", max_length=128)
    message: str = Field(default="", description="Why, as a sentence.", max_length=4096)
    last_transition_time: datetime = Field(description="When the status changed last.")
    observed_generation: int | None = Field(
        default=None, description="The generation that the condition was set for."
    )


class Progress(ApiModel):
    """What the pod is doing now."""

    stage: Stage = Field(description="The stage that runs.")
    percent: Annotated[int, Field(ge=0, le=100)] = Field(description="How much of all is done.")
    message: str = Field(default="", description="What is being done.", max_length=256)


class TensorInfo(ApiModel):
    """An input or output of the artifact, read back from the file."""

    name: str = Field(description="Its name in the graph.")
    dtype: str = Field(description="Its element type.")
    shape: list[int | str] = Field(description="A number, or the name of a dynamic dim.")


class ArtifactFile(ApiModel):
    """A published file."""

    name: str = Field(description="Its name below the artifact's directory.")
    sha256: str = Field(description="Its digest.")
    size_bytes: int = Field(description="Its size.")


class Artifact(ApiModel):
    """The published ONNX model."""

    uri: str = Field(description="The ONNX file.")
    sha256: str = Field(description="Digest of the ONNX file.")
    size_bytes: int = Field(description="Size of the ONNX file and its external data.")
    opset: int = Field(description="The ONNX operator set that the file uses.")
    ir_version: int = Field(description="The ONNX IR version of the file.")
    exporter: str = Field(description="The route that won, and torch's version.")
    inputs: list[TensorInfo] = Field(description="What the file takes.")
    outputs: list[TensorInfo] = Field(description="What the file returns.")
    files: list[ArtifactFile] = Field(default_factory=list, description="All published files.")
    manifest_uri: str | None = Field(default=None, description="The manifest of all files.")


class LatencyFigures(ApiModel):
    """Wall time of one call, in milliseconds."""

    median: float = Field(description="The median.")
    p95: float = Field(description="The 95th percentile.")


class Latency(ApiModel):
    """How long one call takes, warm, all measured in one run on one machine."""

    dims: dict[str, int] = Field(default_factory=dict, description="The sizes it was measured at.")
    eager: LatencyFigures = Field(description="PyTorch, eager.")
    compiled: LatencyFigures | None = Field(
        default=None, description="PyTorch, torch.compile; absent where that does not work."
    )
    onnx: LatencyFigures = Field(description="onnxruntime.")


class VerificationResult(ApiModel):
    """How far the artifact was from eager PyTorch."""

    verdict: Verdict = Field(description="Verified, Mismatch or IllConditioned.")
    provider: str = Field(description="The execution provider that ran, read from the session.")
    samples: int = Field(description="How many samples were compared.")
    max_abs_error: float = Field(description="The largest absolute error of any output.")
    max_rel_error: float = Field(
        description="The largest error relative to the largest value of its output."
    )
    limit_share: float | None = Field(
        default=None,
        description="The largest error as a share of what was allowed where it came; 1 is the "
        "limit.",
    )
    tolerance_source: str = Field(
        description="Where the limits come from: Calibrated, Default (floors only: the model does "
        "not run in float64) or Spec."
    )
    max_noise: float | None = Field(
        default=None,
        description="What the model errs by itself: the largest distance between its results in "
        "its own precision and in float64, relative to the largest value of the output.",
    )
    fallback_nodes: int = Field(
        default=0,
        description="How many nodes ran on the CPU although another provider was asked for.",
    )
    latency_ms: Latency | None = Field(
        default=None, description="How long a call takes, in milliseconds."
    )


class Support(StrEnum):
    """How an operator that no exporter translates can be supported."""

    STANDARDISED = "Standardised"
    DECOMPOSABLE = "Decomposable"
    NEEDS_PLUGIN = "NeedsPlugin"
    RUNTIME = "Runtime"


class UnsupportedOp(ApiModel):
    """An operator without a translation, and the way out."""

    name: str = Field(description="The operator with its overload, such as aten::erfinv.default.")
    count: int = Field(default=1, description="How often the model uses it.")
    module: str = Field(default="", description="Path of the nn.Module that uses it first.")
    source: str = Field(default="", description="The line that uses it first, as file:line.")
    support: Support = Field(
        description="Standardised: ONNX has it from a later opset on. Decomposable: other "
        "operators compute it. NeedsPlugin: a plugin must translate it. Runtime: onnxruntime must "
        "bring it."
    )
    hint: str = Field(default="", description="What to do, in a sentence.", max_length=512)


class Failure(ApiModel):
    """Why the export failed, and what to do."""

    reason: Reason = Field(description="One CamelCase word from a closed list.")
    message: str = Field(description="What was found and what was expected.", max_length=2048)
    hint: str = Field(default="", description="What to do about it.", max_length=1024)
    stage: Stage | None = Field(default=None, description="The stage that failed.")
    retryable: bool = Field(
        default=False, description="Whether the same spec may succeed when it is run again."
    )
    ops: list[UnsupportedOp] = Field(
        default_factory=list,
        max_length=32,
        description="All operators without a translation, where these are the reason.",
    )


class ModelExportStatus(ApiModel):
    """What became of a ModelExport."""

    observed_generation: int | None = Field(
        default=None, description="The generation of the spec that the status speaks of."
    )
    phase: Phase | None = Field(default=None, description="A summary of the conditions.")
    conditions: list[Condition] = Field(
        default_factory=list,
        description="Scheduled, Exported, Verified, Published, Complete, Failed.",
    )
    progress: Progress | None = Field(default=None, description="What the pod is doing now.")
    start_time: datetime | None = Field(default=None, description="When the first pod started.")
    completion_time: datetime | None = Field(default=None, description="When it ended.")
    attempts: int | None = Field(default=None, description="How many pods were started.")
    job_name: str | None = Field(default=None, description="The Job that does the work.")
    artifact: Artifact | None = Field(default=None, description="The published ONNX model.")
    report_uri: str | None = Field(default=None, description="The report, also after a failure.")
    verification: VerificationResult | None = Field(
        default=None, description="How far the artifact was from eager PyTorch."
    )
    failure: Failure | None = Field(default=None, description="Why it failed.")
    items: Items | None = Field(default=None, description="A batch: how many are how far.")
