"""The condition Ready of a trigger: whether completions trigger exports now, and why not: pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from modelexport_api.status import Condition
from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_api.trigger_resource import ModelExportTrigger
from modelexport_api.trigger_rules import version_of
from modelexport_operator.triggers import template
from modelexport_operator.triggers.jsonpath import PathError, parse
from modelexport_operator.triggers.kinds import TriggerSettings, WatchedKind

READY = "Ready"
_MESSAGE_LIMIT = 4096


@dataclass(frozen=True)
class Readiness:
    """Whether completions trigger exports now, and why (not)."""

    status: Literal["True", "False"]
    reason: str
    message: str

    @property
    def is_trouble(self) -> bool:
        """Tell whether a person has to do something."""
        return self.status == "False" and self.reason != SUSPENDED


SUSPENDED = "Suspended"
WATCHING = "Watching"
TEMPLATE_INVALID = "TemplateInvalid"
SELECTOR_INVALID = "SelectorInvalid"
KIND_NOT_ENABLED = "KindNotEnabled"
KIND_NOT_INSTALLED = "KindNotInstalled"
FORBIDDEN = "Forbidden"
CREATION_REFUSED = "CreationRefused"


def with_readiness(
    status: ModelExportTriggerStatus, ready: Readiness, generation: int | None, now: datetime
) -> ModelExportTriggerStatus:
    """Return the status with the condition; its time moves only when its status does."""
    before = next((entry for entry in status.conditions if entry.type == READY), None)
    same = before is not None and before.status == ready.status
    condition = Condition(
        type=READY,
        status=ready.status,
        reason=ready.reason,
        message=ready.message[:_MESSAGE_LIMIT],
        last_transition_time=before.last_transition_time if before and same else now,
        observed_generation=generation,
    )
    return status.model_copy(update={"conditions": [condition], "observed_generation": generation})


def judged(trigger: ModelExportTrigger, settings: TriggerSettings) -> Readiness | WatchedKind:
    """Return the kind that a trigger is to watch, or why it cannot work as it is written."""
    if trigger.spec.suspend:
        message = "spec.suspend is true; what completes meanwhile is exported afterwards"
        return Readiness("False", SUSPENDED, message)
    broken = problems(trigger)
    if broken:
        return Readiness("False", TEMPLATE_INVALID, "; ".join(broken))
    kind = settings.find(trigger.spec.source)
    if kind is None:
        source = trigger.spec.source
        name = f"{source.kind} of {version_of(source)}"
        message = f"the operator is not set up to watch {name}: add it to triggers in its values"
        return Readiness("False", KIND_NOT_ENABLED, message)
    return kind


def problems(trigger: ModelExportTrigger) -> list[str]:
    """Return a sentence for everything that is certainly wrong, whatever completes."""
    return [*_path_problems(trigger), *template.problems(trigger.spec.template)]


def _path_problems(trigger: ModelExportTrigger) -> list[str]:
    success = trigger.spec.source.success
    if success is None or success.field is None:
        return []
    try:
        parse(success.field.path)
    except PathError as error:
        return [f"spec.source.success.field.path: {error}"]
    return []
