"""What can be decided about a ModelExport: the words that policies and actions have in common."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from modelexport_api.status import Failure, ModelExportStatus
from modelexport_operator.observe import ObservedJob, ObservedResource


@dataclass(frozen=True)
class CreateJob:
    """Create this Job; that it exists already is success."""

    manifest: dict[str, Any]


@dataclass(frozen=True)
class StopJob:
    """End the Job and store why with it, in one write."""

    job: ObservedJob
    failure: Failure


@dataclass(frozen=True)
class DeleteJob:
    """Delete the Job as it was seen; it is gone when its pods are."""

    job: ObservedJob


@dataclass(frozen=True)
class DeleteExport:
    """Delete the ModelExport as it was seen."""

    resource: ObservedResource


@dataclass(frozen=True)
class Acknowledge:
    """Store that the present generation was seen: it changed nothing that the status tells."""

    resource: ObservedResource


Action = CreateJob | StopJob | DeleteJob | DeleteExport | Acknowledge


@dataclass(frozen=True)
class Event:
    """A Kubernetes Event. `about` tells two events of one reason apart; the same is told once."""

    type: str
    reason: str
    message: str
    about: str


@dataclass(frozen=True)
class Decision:
    """An action, after which is observed and decided again; or a status, which ends the round."""

    action: Action | None = None
    status: ModelExportStatus | None = None
    events: tuple[Event, ...] = ()
    requeue_after: timedelta | None = None
