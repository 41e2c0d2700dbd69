"""A ModelExport as the API server returns it, as a typed value. Pure.

Its operator may be of another version than this command: fields of the status that are not known
here are dropped, and an unknown reason is shown in the message of the failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from modelexport_api.conditions import find_condition, stages_of
from modelexport_api.reasons import EXIT_CODES, ExitCode, Reason
from modelexport_api.spec import Mode
from modelexport_api.status import (
    FAILURE_MESSAGE_LIMIT,
    Condition,
    ConditionType,
    Failure,
    ModelExportStatus,
    Stage,
    new_failure,
)
from modelexport_api.types import is_glob

Body = Mapping[str, Any]

OPERATOR_EXIT_CODES: dict[Reason, ExitCode] = {
    Reason.POD_REJECTED: ExitCode.MANIFEST,
    Reason.POD_CANNOT_START: ExitCode.MANIFEST,
    Reason.PENDING_DEADLINE_EXCEEDED: ExitCode.RESOURCES,
    Reason.RETRIES_EXHAUSTED: ExitCode.RETRYABLE,
    Reason.JOB_DELETED: ExitCode.RETRYABLE,
    Reason.RESULT_LOST: ExitCode.RETRYABLE,
}
"""The exit codes of the reasons that only the operator reports."""


@dataclass(frozen=True)
class Export:
    """A ModelExport, and what its status says."""

    name: str
    namespace: str
    uid: str
    suspended: bool
    deleting: bool
    stages: tuple[Stage, ...]
    """None for a batch, whose stages repeat for every checkpoint."""
    status: ModelExportStatus
    raw: Body
    """The whole object, as the API server returned it."""

    @property
    def is_batch(self) -> bool:
        """Return whether it exports many checkpoints."""
        return not self.stages

    @property
    def spec(self) -> Body:
        """Return the spec as it is stored."""
        spec: Body = self.raw.get("spec") or {}
        return spec

    @property
    def end(self) -> Condition | None:
        """Return the condition that ended it: Complete or Failed."""
        found = [self._condition(kind) for kind in (ConditionType.COMPLETE, ConditionType.FAILED)]
        return next((entry for entry in found if entry and entry.status == "True"), None)

    @property
    def failure(self) -> Failure | None:
        """Return why it failed; None while it has not ended, and after a success."""
        if self.end is None or self.end.type != ConditionType.FAILED:
            return None
        return self.status.failure or new_failure(_known(self.end.reason), self.end.message)

    @property
    def exit_code(self) -> int:
        """Return the exit code that `modelexport run` has for the same end."""
        if self.failure is None:
            return int(ExitCode.DONE)
        codes = {**OPERATOR_EXIT_CODES, **EXIT_CODES}
        return int(codes.get(self.failure.reason, ExitCode.INTERNAL))

    @property
    def is_partial(self) -> bool:
        """Return whether a batch succeeded although checkpoints of it failed."""
        items = self.status.items
        return self.end is not None and not self.failure and bool(items and items.failed)

    @property
    def state(self) -> str:
        """Return the state as one or two words for a sentence."""
        if self.end is not None:
            return f"Failed ({self.end.reason})" if self.failure else "Complete"
        if self.suspended:
            return "suspended"
        return self.status.phase.value if self.status.phase else "not started"

    def _condition(self, kind: ConditionType) -> Condition | None:
        return find_condition(self.status.conditions, kind)


def observe(body: Body) -> Export:
    """Return the ModelExport in an object from the API server."""
    meta, spec = body["metadata"], body.get("spec") or {}
    return Export(
        name=meta["name"],
        namespace=meta.get("namespace", ""),
        uid=meta.get("uid", ""),
        suspended=spec.get("suspend") is True,
        deleting="deletionTimestamp" in meta,
        stages=_stages(spec),
        status=read_status(body.get("status") or {}),
        raw=body,
    )


def read_status(stored: Body) -> ModelExportStatus:
    """Return the status without the parts that this version does not know."""
    found = _copied(stored)
    while True:
        try:
            return ModelExportStatus.model_validate(found)
        except ValidationError as error:
            _drop(found, error.errors(include_url=False)[0])


def _drop(found: Any, error: Any) -> None:  # noqa: ANN401 - JSON, and pydantic's description
    """Drop a field that is unknown, or else the field of the status with an unknown value."""
    where = error["loc"]
    if where[:2] == ("failure", "reason"):
        found["failure"] = _translated(found["failure"])
        return
    parent = found
    if error["type"] == "extra_forbidden":
        for part in where[:-1]:
            parent = parent[part]
    del parent[where[-1] if parent is not found else where[0]]


def _translated(failure: Any) -> Any:  # noqa: ANN401
    """Return a failure with a reason of this version; the unknown one begins its message."""
    if not isinstance(failure, dict):
        return None
    message = f"{failure.get('reason')}: {failure.get('message', '')}"[:FAILURE_MESSAGE_LIMIT]
    return {**failure, "reason": Reason.INTERNAL_ERROR.value, "message": message}


def _copied(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _known(reason: str) -> Reason:
    return Reason(reason) if reason in set(Reason) else Reason.INTERNAL_ERROR


def _stages(spec: Body) -> tuple[Stage, ...]:
    source = spec.get("source") or {}
    if source.get("uris") is not None or is_glob(str(source.get("uri", ""))):
        return ()
    mode = spec.get("mode", Mode.EXPORT.value)
    return stages_of(Mode(mode) if mode in set(Mode) else Mode.EXPORT)
