"""The ModelExportTrigger resource: creates a ModelExport for every training that completes.

Every docstring and description here is user documentation: it becomes part of the CRD
(`kubectl explain modelexporttrigger.spec`). Cross-field rules are in `trigger_rules`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from modelexport_api.base import ApiModel
from modelexport_api.status import Condition
from modelexport_api.types import FreeForm

TRIGGER_KIND = "ModelExportTrigger"
TRIGGER_PLURAL = "modelexporttriggers"

LabelKey = Annotated[str, StringConstraints(min_length=1, max_length=317)]
LabelValue = Annotated[
    str, StringConstraints(pattern=r"^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$", max_length=63)
]
Path = Annotated[str, StringConstraints(min_length=1, max_length=512)]
Limit = Annotated[int, Field(ge=0, le=100_000)]


class Operator(StrEnum):
    """How a label is compared."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


class LabelExpression(ApiModel):
    """One requirement on a label."""

    key: LabelKey = Field(description="Label key.")
    operator: Operator = Field(description="Comparison: In, NotIn, Exists or DoesNotExist.")
    values: Annotated[list[LabelValue], Field(max_length=64)] | None = Field(
        default=None, description="Values for In and NotIn."
    )


class Selector(ApiModel):
    """Selects objects by their labels; all requirements must be met."""

    match_labels: dict[LabelKey, LabelValue] = Field(
        default_factory=dict, max_length=64, description="Labels and their required values."
    )
    match_expressions: list[LabelExpression] = Field(
        default_factory=list, max_length=32, description="Further requirements on labels."
    )


class SuccessCondition(ApiModel):
    """A condition in status.conditions."""

    type: Annotated[str, StringConstraints(min_length=1, max_length=316)] = Field(
        description="Type of the condition, such as Complete."
    )
    status: Literal["True", "False", "Unknown"] = Field(
        default="True", description="Status of the condition that means success."
    )


class SuccessField(ApiModel):
    """A field and the value that means success."""

    path: Path = Field(description="Path of the field as JSONPath, such as .status.phase.")
    value: Annotated[str, StringConstraints(max_length=1024)] = Field(
        description="Value that means success; numbers and booleans as JSON prints them."
    )


class Success(ApiModel):
    """How to detect that a training succeeded: by a condition or by a field."""

    condition: SuccessCondition | None = Field(
        default=None, description="Condition in status.conditions that means success."
    )
    field: SuccessField | None = Field(default=None, description="Field whose value means success.")


class TriggerSource(ApiModel):
    """The objects whose completion triggers an export, in the trigger's namespace."""

    kind: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]*$", max_length=63)] = Field(
        description="Kind of the objects. For Job, TrainJob, PyTorchJob, RayJob and JobSet the "
        "operator knows when they have succeeded. Any other kind requires apiVersion and "
        "success. The operator must be installed with the permission to watch the kind."
    )
    api_version: (
        Annotated[str, StringConstraints(pattern=r"^([a-z0-9.-]+/)?v[a-z0-9]+$", max_length=317)]
        | None
    ) = Field(
        default=None,
        description="API group and version of the kind, such as example.com/v1. May be omitted "
        "for the kinds that the operator knows.",
    )
    success: Success | None = Field(
        default=None,
        description="How to detect that an object succeeded. If not set: by the status that the "
        "controller of a known kind writes.",
    )
    selector: Selector = Field(
        default_factory=Selector,
        description="Selects objects of the kind by their labels. If not set: all in the "
        "namespace.",
    )


class TemplateMetadata(ApiModel):
    """Labels and annotations of the ModelExports. Values may contain expressions."""

    labels: dict[LabelKey, str] = Field(
        default_factory=dict,
        max_length=64,
        description="Labels. A label such as kueue.x-k8s.io/queue-name is copied to the Job.",
    )
    annotations: dict[LabelKey, str] = Field(
        default_factory=dict, max_length=64, description="Annotations."
    )


class Template(ApiModel):
    """Template of the ModelExport to create, with expressions for values of the finished object.

    `$(metadata.name)` in any string is replaced by that field of the object; the text between
    the parentheses is a JSONPath. `$$(` is an escape for `$(`.
    """

    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    spec: FreeForm = Field(
        description="The spec of a ModelExport. Every string may contain expressions."
    )


class StartPolicy(StrEnum):
    """Which completions trigger an export."""

    NEW_ONLY = "NewOnly"
    ALL = "All"


class HistoryLimits(ApiModel):
    """Number of finished ModelExports of the trigger to keep. Published files are kept."""

    successful: Limit | None = Field(
        default=None, description="Number of succeeded ModelExports to keep. If not set: all."
    )
    failed: Limit | None = Field(
        default=None, description="Number of failed ModelExports to keep. If not set: all."
    )


class ModelExportTriggerSpec(ApiModel):
    """Which completions trigger which exports."""

    source: TriggerSource
    template: Template
    start_policy: StartPolicy = Field(
        default=StartPolicy.NEW_ONLY,
        description="NewOnly: objects that complete after the creation of the trigger. All: also "
        "objects that completed before and still exist.",
    )
    history_limits: HistoryLimits = Field(default_factory=HistoryLimits)
    suspend: bool = Field(
        default=False,
        description="Create no ModelExports until this is false again. Objects that complete in "
        "the meantime are exported afterwards, if they still exist.",
    )


class ModelExportTriggerStatus(ApiModel):
    """Observed state of a ModelExportTrigger."""

    observed_generation: int | None = Field(
        default=None, description="Generation of the spec that this status reflects."
    )
    conditions: list[Condition] = Field(
        default_factory=list,
        description="Conditions: Ready, which is also True for a suspended trigger; Stalled while "
        "only another spec or another installation helps.",
    )
    triggered: int = Field(default=0, description="Number of ModelExports created.")
    skipped: int = Field(
        default=0,
        description="Number of completions without a ModelExport, because a value was missing or "
        "the API server rejected the ModelExport. Each of them has an Event.",
    )
    last_triggered_time: datetime | None = Field(
        default=None, description="Time when the last ModelExport was created."
    )
    processed: list[Annotated[str, StringConstraints(max_length=64)]] = Field(
        default_factory=list,
        max_length=5000,
        description="Latest completions that were processed, as time and digest. None is "
        "processed twice, even if its ModelExport was deleted.",
    )
    processed_until: datetime | None = Field(
        default=None,
        description="All completions up to this time were processed, too; there were too many to "
        "list them one by one.",
    )
