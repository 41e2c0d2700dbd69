"""The status of a ModelExport, for people and for programs."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from modelexport_api.base import ApiModel, truncate
from modelexport_api.isolation import IsolationInForce
from modelexport_api.items import Items
from modelexport_api.reasons import Reason, is_retryable

CONDITION_MESSAGE_LIMIT = 4096
SUMMARY_LIMIT = 256
FAILURE_MESSAGE_LIMIT = 2048
FAILURE_HINT_LIMIT = 1024


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
    """Whether the artifact computes the same as the model."""

    VERIFIED = "Verified"
    MISMATCH = "Mismatch"
    ILL_CONDITIONED = "IllConditioned"
    INCOMPLETE = "Incomplete"


class ConditionType(StrEnum):
    """The conditions of a ModelExport. It has finished when Complete or Failed is True.

    Ready, Reconciling, Stalled and Finished follow from the others, for tools and scripts.
    """

    SCHEDULED = "Scheduled"
    EXPORTED = "Exported"
    VERIFIED = "Verified"
    PUBLISHED = "Published"
    COMPLETE = "Complete"
    FAILED = "Failed"
    READY = "Ready"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    FINISHED = "Finished"


class Condition(ApiModel):
    """A condition as in metav1.Condition."""

    type: str = Field(description="Type of the condition, such as Complete.")
    status: Literal["True", "False", "Unknown"] = Field(
        description="Status of the condition: True, False or Unknown."
    )
    reason: str = Field(description="Reason for the status, as one CamelCase word.", max_length=128)
    message: str = Field(
        default="",
        description="Explanation of the status, as a sentence.",
        max_length=CONDITION_MESSAGE_LIMIT,
    )
    last_transition_time: datetime = Field(description="Time of the last change of the status.")
    observed_generation: int | None = Field(
        default=None, description="Generation of the spec that the condition was set for."
    )


class Progress(ApiModel):
    """What the pod is doing."""

    stage: Stage = Field(description="Current stage.")
    percent: Annotated[int, Field(ge=0, le=100)] = Field(
        description="Progress of the whole export, in percent."
    )
    message: str = Field(default="", description="Current activity.", max_length=256)
    attempt: str | None = Field(
        default=None,
        description="Current attempt to export, such as `attempt 2 of 5: DynamoStrict`. The total "
        "changes when an attempt fails in a way that allows or excludes others.",
        max_length=64,
    )


class TensorInfo(ApiModel):
    """An input or output of the artifact, as read from the file."""

    name: str = Field(description="Name in the graph.")
    dtype: str = Field(description="Element type.")
    shape: list[int | str] = Field(
        description="Shape: a number for each constant dim, a name for each dynamic dim; `...` "
        "alone where the number of dims varies."
    )


class ArtifactFile(ApiModel):
    """A published file."""

    name: str = Field(description="Path of the file, relative to the artifact's directory.")
    sha256: str = Field(description="SHA-256 digest of the file.")
    size_bytes: int = Field(description="Size of the file in bytes.")


class Artifact(ApiModel):
    """The published ONNX model."""

    uri: str = Field(description="URI of the ONNX file.")
    sha256: str = Field(description="SHA-256 digest of the ONNX file.")
    size_bytes: int = Field(description="Size of the ONNX file and its external data, in bytes.")
    opset: int = Field(description="Version of the ONNX operator set that the file uses.")
    ir_version: int = Field(description="ONNX IR version of the file.")
    exporter: str = Field(description="Export route that made the file, and the version of torch.")
    inputs: list[TensorInfo] = Field(description="Inputs of the ONNX model.")
    outputs: list[TensorInfo] = Field(description="Outputs of the ONNX model.")
    files: list[ArtifactFile] = Field(default_factory=list, description="All published files.")
    manifest_uri: str | None = Field(
        default=None, description="URI of the manifest, which lists all files."
    )


class LatencyFigures(ApiModel):
    """Wall-clock time of one call, in milliseconds."""

    median: float = Field(description="Median, in milliseconds.")
    p95: float = Field(description="95th percentile, in milliseconds.")


class Latency(ApiModel):
    """Time of one call after warm-up; all figures are from one run on one machine."""

    dims: dict[str, int] = Field(
        default_factory=dict, description="Sizes of the dynamic dims in the measurement."
    )
    eager: LatencyFigures = Field(description="PyTorch in eager mode.")
    compiled: LatencyFigures | None = Field(
        default=None,
        description="PyTorch with torch.compile. Not set if torch.compile does not work for the "
        "model.",
    )
    onnx: LatencyFigures = Field(description="onnxruntime.")


class VerificationResult(ApiModel):
    """Result of the comparison of the artifact with eager PyTorch."""

    verdict: Verdict = Field(description="Verified, Mismatch, IllConditioned or Incomplete.")
    provider: str = Field(
        description="Execution provider that ran the model, as reported by onnxruntime."
    )
    samples: int = Field(description="Number of samples compared.")
    max_abs_error: float = Field(description="Largest absolute error of any output.")
    max_rel_error: float = Field(
        description="Largest error, relative to the largest value of its output."
    )
    limit_share: float | None = Field(
        default=None,
        description="Largest error as a fraction of the limit that applies to it; 1 is the limit.",
    )
    tolerance_source: str = Field(
        description="Origin of the limits: Calibrated, Default (minimum limits, because the "
        "model does not run in float64) or Spec."
    )
    max_noise: float | None = Field(
        default=None,
        description="The model's own rounding error: the largest difference between its results "
        "in its own precision and in float64, relative to the largest value of the output.",
    )
    fallback_nodes: int = Field(
        default=0,
        description="Number of nodes that ran on the CPU although another provider was requested.",
    )
    coverage: list[str] = Field(
        default_factory=list,
        description="What the samples covered: sizes of each dynamic dim (`all 120 sizes of n`), "
        "ranges of integer inputs that were searched for, because none is declared, and samples "
        "in which eager PyTorch and the file order equal values differently.",
    )
    not_compared: list[str] = Field(
        default_factory=list,
        description="What no sample reached: outputs that were empty in all samples, and branches "
        "on values that went the same way in all samples of a trace.",
    )
    latency_ms: Latency | None = Field(
        default=None, description="Time of one call, in milliseconds."
    )
    user_code_in_runtime: bool = Field(
        default=False,
        description="Whether onnxruntime loaded plugins or libraries of the user. The file then "
        "ran in a process of their own, which could return anything.",
    )
    isolation: IsolationInForce | None = Field(
        default=None, description="How the processes that ran the model's code were isolated."
    )


class Support(StrEnum):
    """How an operator that no exporter translates can be supported."""

    STANDARDISED = "Standardised"
    DECOMPOSABLE = "Decomposable"
    NEEDS_PLUGIN = "NeedsPlugin"
    RUNTIME = "Runtime"


class UnsupportedOp(ApiModel):
    """An operator without an ONNX translation, and how to support it."""

    name: str = Field(description="Operator with its overload, such as aten::erfinv.default.")
    count: int = Field(default=1, description="Number of times that the model uses the operator.")
    module: str = Field(
        default="", description="Path of the first nn.Module that uses the operator."
    )
    source: str = Field(
        default="", description="First line of code that uses the operator, as file:line."
    )
    support: Support = Field(
        description="How to support the operator. Standardised: ONNX has it in a later opset. "
        "Decomposable: other operators can compute it. NeedsPlugin: a plugin must translate it. "
        "Runtime: onnxruntime must implement it."
    )
    hint: str = Field(default="", description="What to do, as a sentence.", max_length=512)


class Failure(ApiModel):
    """Why the export failed, and what to do."""

    reason: Reason = Field(description="Reason from a closed list, as one CamelCase word.")
    message: str = Field(
        description="What was found and what was expected.", max_length=FAILURE_MESSAGE_LIMIT
    )
    hint: str = Field(default="", description="What to do.", max_length=FAILURE_HINT_LIMIT)
    stage: Stage | None = Field(default=None, description="Stage that failed.")
    retryable: bool = Field(
        default=False, description="Whether a retry with the same spec may succeed."
    )
    ops: list[UnsupportedOp] = Field(
        default_factory=list,
        max_length=32,
        description="All operators without a translation, if they are the reason of the failure.",
    )


def new_failure(
    reason: Reason, message: str, hint: str = "", *, stage: Stage | None = None
) -> Failure:
    """Return a failure with its texts truncated to the limits."""
    return Failure(
        reason=reason,
        message=truncate(message, FAILURE_MESSAGE_LIMIT),
        hint=truncate(hint, FAILURE_HINT_LIMIT),
        stage=stage,
        retryable=is_retryable(reason),
    )


class ModelExportStatus(ApiModel):
    """Observed state of a ModelExport."""

    observed_generation: int | None = Field(
        default=None, description="Generation of the spec that this status reflects."
    )
    phase: Phase | None = Field(default=None, description="Summary of the conditions.")
    reason: str | None = Field(
        default=None,
        max_length=128,
        description="Why the ModelExport failed, waits or is retried: the reason of the condition "
        "that says so. Not set while all is well.",
    )
    message: str | None = Field(
        default=None,
        max_length=SUMMARY_LIMIT,
        description="The beginning of that condition's message. Not set while all is well.",
    )
    conditions: list[Condition] = Field(
        default_factory=list,
        description="Conditions: Scheduled, Exported, Verified, Published, Complete, Failed. "
        "Exactly one of Complete and Failed is set when the ModelExport has finished. Ready, "
        "Reconciling, Stalled (as in kstatus) and Finished (True after success and failure) "
        "follow from them.",
    )
    progress: Progress | None = Field(default=None, description="What the pod is doing.")
    start_time: datetime | None = Field(
        default=None, description="Time when the first pod started."
    )
    completion_time: datetime | None = Field(
        default=None, description="Time when the ModelExport finished."
    )
    attempts: int | None = Field(default=None, description="Number of pods that were started.")
    job_name: str | None = Field(default=None, description="Name of the Job that runs the export.")
    artifact: Artifact | None = Field(default=None, description="The published ONNX model.")
    report_uri: str | None = Field(
        default=None, description="URI of the report. Also set after a failure."
    )
    verification: VerificationResult | None = Field(
        default=None, description="Result of the comparison of the artifact with eager PyTorch."
    )
    failure: Failure | None = Field(default=None, description="Why the export failed.")
    items: Items | None = Field(default=None, description="Progress of a batch.")
