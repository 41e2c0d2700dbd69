"""The conditions of a trigger: whether completions trigger exports, and why not. Pure.

Ready is True for a suspended trigger, too: it does what its spec says, and a tool that waits for
Ready would wait until its timeout. Each False needs a person. Stalled, which kstatus takes for a
failure, is present as well where only another spec or another installation helps. A missing kind
or permission may be on its way in the same release, so there kstatus waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from modelexport_api.conditions import ConditionState
from modelexport_api.status import ConditionType
from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_api.trigger_resource import ModelExportTrigger
from modelexport_api.trigger_rules import version_of
from modelexport_operator.triggers import template
from modelexport_operator.triggers.jsonpath import PathError, parse
from modelexport_operator.triggers.kinds import TriggerSettings, WatchedKind

READY = ConditionType.READY


@dataclass(frozen=True)
class Readiness:
    """Whether completions trigger exports, and why or why not."""

    status: Literal["True", "False"]
    reason: str
    message: str

    @property
    def needs_action(self) -> bool:
        """Return whether a person must correct something."""
        return self.status == "False"


SUSPENDED = "Suspended"
WATCHING = "Watching"
TEMPLATE_INVALID = "TemplateInvalid"
SELECTOR_INVALID = "SelectorInvalid"
KIND_NOT_ENABLED = "KindNotEnabled"
KIND_NOT_INSTALLED = "KindNotInstalled"
FORBIDDEN = "Forbidden"
CREATION_REFUSED = "CreationRefused"
_STALLED = {TEMPLATE_INVALID, SELECTOR_INVALID, KIND_NOT_ENABLED}


def with_readiness(
    status: ModelExportTriggerStatus, ready: Readiness, generation: int | None, now: datetime
) -> ModelExportTriggerStatus:
    """Return the status with Ready, and with Stalled if only another spec helps."""
    states = [ConditionState(READY, ready.status, ready.reason, ready.message)]
    if ready.reason in _STALLED:
        states.append(ConditionState(ConditionType.STALLED, "True", ready.reason, ready.message))
    found = [state.to_condition(status.conditions, generation, now) for state in states]
    return status.model_copy(update={"conditions": found, "observed_generation": generation})


def resolve_kind(trigger: ModelExportTrigger, settings: TriggerSettings) -> Readiness | WatchedKind:
    """Return the kind that a trigger watches, or why the trigger cannot work."""
    if trigger.spec.suspend:
        message = "spec.suspend is true; objects that complete now are exported afterwards"
        return Readiness("True", SUSPENDED, message)
    found = problems(trigger)
    if found:
        return Readiness("False", TEMPLATE_INVALID, "; ".join(found))
    kind = settings.find(trigger.spec.source)
    if kind is None:
        source = trigger.spec.source
        name = f"{source.kind} of {version_of(source)}"
        message = f"the operator cannot watch {name}: add it to triggers in the chart's values"
        return Readiness("False", KIND_NOT_ENABLED, message)
    return kind


def problems(trigger: ModelExportTrigger) -> list[str]:
    """Return a line for each problem that does not depend on the finished object."""
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
