"""Why a ModelExport waits: a closed list of reasons of its conditions before its end.

docs/lifecycle.md explains each. A reason never changes its meaning. The reasons of failures are in
`reasons`.
"""

from __future__ import annotations

from enum import StrEnum


class Wait(StrEnum):
    """A reason of a condition that is not True, of a ModelExport that has not ended."""

    # The Job cannot be created now.
    QUOTA_EXCEEDED = "QuotaExceeded"
    WEBHOOK_FAILED = "WebhookFailed"
    NAMESPACE_TERMINATING = "NamespaceTerminating"
    PERMISSION_MISSING = "PermissionMissing"
    JOB_NOT_CREATED = "JobNotCreated"

    # Its pod does not run.
    POD_REJECTED = "PodRejected"
    UNSCHEDULABLE = "Unschedulable"
    POD_NOT_STARTED = "PodNotStarted"
    POD_CANNOT_START = "PodCannotStart"
    RETRYING = "Retrying"

    SUSPENDED = "Suspended"

    # Its queue holds the Job back.
    QUEUED = "Queued"
    PREEMPTED = "Preempted"
    EVICTED = "Evicted"
    ADMISSION_CHECKS = "AdmissionChecks"
    QUEUE_MISSING = "QueueMissing"
    QUEUE_STOPPED = "QueueStopped"
    EXCEEDS_QUOTA = "ExceedsQuota"
    NO_MATCHING_FLAVOR = "NoMatchingFlavor"
    INADMISSIBLE = "Inadmissible"
    DEACTIVATED = "Deactivated"
