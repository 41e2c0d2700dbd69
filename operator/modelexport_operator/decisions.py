"""The decisions about a ModelExport: the types that policies and actions share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from modelexport_api.status import Failure, ModelExportStatus
from modelexport_operator.observe import ObservedJob, ObservedResource


@dataclass(frozen=True)
class CreateJob:
    """Create this Job; succeeds if it already exists."""

    manifest: dict[str, Any]


@dataclass(frozen=True)
class StopJob:
    """Stop the Job and store the failure in its annotations, in one write."""

    job: ObservedJob
    failure: Failure


@dataclass(frozen=True)
class DeleteJob:
    """Delete this version of the Job; it disappears after its pods."""

    job: ObservedJob


@dataclass(frozen=True)
class DeleteExport:
    """Delete this version of the ModelExport."""

    resource: ObservedResource


@dataclass(frozen=True)
class Acknowledge:
    """Store the observed generation: the change did not affect the rest of the status."""

    resource: ObservedResource


Action = CreateJob | StopJob | DeleteJob | DeleteExport | Acknowledge


@dataclass(frozen=True)
class Event:
    """A Kubernetes Event, created once for each object, reason and `key`."""

    type: str
    reason: str
    message: str
    key: str


@dataclass(frozen=True)
class Decision:
    """An action, followed by another decision; or a status, which ends the reconciliation.

    `retry`: an action failed for a passing reason, and is repeated with increasing pauses.
    """

    action: Action | None = None
    status: ModelExportStatus | None = None
    events: tuple[Event, ...] = ()
    requeue_after: timedelta | None = None
    retry: bool = False
