"""The ModelExportTrigger resource: a ModelExport for every training that completes.

Every docstring and description here is read by users: it becomes the CRD's documentation
(`kubectl explain modelexporttrigger.spec`). Rules that cross fields live in `trigger_rules`.
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

    key: LabelKey = Field(description="The label.")
    operator: Operator = Field(description="In, NotIn, Exists or DoesNotExist.")
    values: Annotated[list[LabelValue], Field(max_length=64)] | None = Field(
        default=None, description="The values that In and NotIn compare with."
    )


class Selector(ApiModel):
    """Which objects, by their labels; all requirements must hold."""

    match_labels: dict[LabelKey, LabelValue] = Field(
        default_factory=dict, max_length=64, description="Labels and the values they must have."
    )
    match_expressions: list[LabelExpression] = Field(
        default_factory=list, max_length=32, description="Other requirements on labels."
    )


class SuccessCondition(ApiModel):
    """An entry of status.conditions."""

    type: Annotated[str, StringConstraints(min_length=1, max_length=316)] = Field(
        description="Its type, such as Complete."
    )
    status: Literal["True", "False", "Unknown"] = Field(
        default="True", description="The status that means success."
    )


class SuccessField(ApiModel):
    """A field and the value that means success."""

    path: Path = Field(description="The field as JSONPath, such as .status.phase.")
    value: Annotated[str, StringConstraints(max_length=1024)] = Field(
        description="The value that means success; numbers and booleans as JSON prints them."
    )


class Success(ApiModel):
    """What tells that a training succeeded: a condition, or a field."""

    condition: SuccessCondition | None = Field(
        default=None, description="Success is this condition in status.conditions."
    )
    field: SuccessField | None = Field(
        default=None, description="Success is this value in this field."
    )


class TriggerSource(ApiModel):
    """The objects whose completion triggers an export; in the namespace of the trigger."""

    kind: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]*$", max_length=63)] = Field(
        description="Job, TrainJob, PyTorchJob, RayJob or JobSet, which are known with their "
        "meaning of success; or any other kind, with apiVersion and success. The operator must "
        "be installed with the right to watch it."
    )
    api_version: (
        Annotated[str, StringConstraints(pattern=r"^([a-z0-9.-]+/)?v[a-z0-9]+$", max_length=317)]
        | None
    ) = Field(
        default=None,
        description="Group and version of the kind, such as example.com/v1. Absent: those of the "
        "well-known kind.",
    )
    success: Success | None = Field(
        default=None,
        description="What tells that an object succeeded. Absent: what the controller of the "
        "well-known kind writes.",
    )
    selector: Selector = Field(
        default_factory=Selector,
        description="Which objects of the kind, by their labels. Absent: all in the namespace.",
    )


class TemplateMetadata(ApiModel):
    """Labels and annotations of the ModelExports. Values may hold expressions."""

    labels: dict[LabelKey, str] = Field(
        default_factory=dict,
        max_length=64,
        description="Labels, such as kueue.x-k8s.io/queue-name, which travels to the Job.",
    )
    annotations: dict[LabelKey, str] = Field(
        default_factory=dict, max_length=64, description="Annotations."
    )


class Template(ApiModel):
    """The ModelExport that is created, with expressions for what comes from the finished object.

    `$(metadata.name)` in any string is replaced by that field of the object; between the
    parentheses stands a JSONPath. `$$(` stands for `$(`.
    """

    metadata: TemplateMetadata = Field(default_factory=TemplateMetadata)
    spec: FreeForm = Field(
        description="The spec of a ModelExport. Every string may hold expressions."
    )


class StartPolicy(StrEnum):
    """Which completions count."""

    NEW_ONLY = "NewOnly"
    ALL = "All"


class HistoryLimits(ApiModel):
    """How many finished ModelExports of the trigger are kept; what they published stays."""

    successful: Limit | None = Field(
        default=None, description="How many that succeeded are kept. Absent: all."
    )
    failed: Limit | None = Field(
        default=None, description="How many that failed are kept. Absent: all."
    )


class ModelExportTriggerSpec(ApiModel):
    """Which completions trigger which exports."""

    source: TriggerSource
    template: Template
    start_policy: StartPolicy = Field(
        default=StartPolicy.NEW_ONLY,
        description="NewOnly: what completes after the creation of the trigger. All: also what "
        "has completed before and still exists.",
    )
    history_limits: HistoryLimits = Field(default_factory=HistoryLimits)
    suspend: bool = Field(
        default=False,
        description="Create nothing until this is false again. What completes meanwhile and still "
        "exists then is exported then.",
    )


class ModelExportTriggerStatus(ApiModel):
    """What a trigger has done."""

    observed_generation: int | None = Field(
        default=None, description="The generation of the spec that the status speaks of."
    )
    conditions: list[Condition] = Field(default_factory=list, description="Ready.")
    triggered: int = Field(default=0, description="How many ModelExports were created.")
    skipped: int = Field(
        default=0,
        description="How many completions gave no ModelExport, for want of a value or because the "
        "API server refused it; each is told by an Event.",
    )
    last_triggered_time: datetime | None = Field(
        default=None, description="When a ModelExport was created last."
    )
    processed: list[Annotated[str, StringConstraints(max_length=64)]] = Field(
        default_factory=list,
        max_length=5000,
        description="The latest completions that have been dealt with, as time and digest: none "
        "is dealt with twice, even when its ModelExport is gone.",
    )
    processed_until: datetime | None = Field(
        default=None,
        description="All completions up to this time have been dealt with, too; there were too "
        "many to keep them one by one.",
    )
