"""What Kueue's Workload says, from the conditions that Kueue writes (0.8 to 0.18)."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_operator import kueue

NAME = "job-digits-1a2b3c4d-9f3e1"
UNUSED = (
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in "
    "flavor a100, 1 more needed"
)
NEVER = (
    "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor "
    "a100, previously considered podsets requests (0) + current podset request (9) > maximum "
    "capacity (8)"
)
ONE_OF_TWO = f"{NEVER}, insufficient unused quota for nvidia.com/gpu in flavor h100, 1 more needed"
FOR = "Preempted to accommodate a workload (UID: 1, JobUID: 2) due to prioritization"
TIMEOUT = "Exceeded the PodsReady timeout ml/job-digits"
LIMIT = "The workload is deactivated due to exceeding the maximum number of re-queuing retries"
CHECK: dict[str, Any] = {"name": "prov", "state": "Pending", "message": "waiting for nodes"}

Row = tuple[str, str, str]


def true(kind: str, reason: str, message: str = "") -> Row:
    return (f"+{kind}", reason, message)


def false(kind: str, reason: str, message: str = "") -> Row:
    return (f"-{kind}", reason, message)


def workload(*rows: Row, active: bool | None = None, **status: object) -> kueue.ObservedWorkload:
    conditions = [
        {
            "type": kind[1:],
            "status": "True" if kind[0] == "+" else "False",
            "reason": reason,
            "message": message,
        }
        for kind, reason, message in rows
    ]
    spec = {} if active is None else {"active": active}
    body = {
        "metadata": {"name": NAME},
        "spec": spec,
        "status": {"conditions": conditions, **status},
    }
    return kueue.observe_workload(body)


WAITS = false("QuotaReserved", "Pending", UNUSED)
REQUEUED = true("Requeued", "BackoffFinished", "The workload backoff was finished")

TABLE: list[tuple[str, kueue.ObservedWorkload, str, str]] = [
    ("new", workload(), "Queued", "waits for admission"),
    ("waits", workload(WAITS), "Queued", "1 more needed"),
    (
        "waits, with the newer reason",
        workload(false("QuotaReserved", "WaitingForQuota", UNUSED)),
        "Queued",
        "1 more needed",
    ),
    (
        "more than the whole quota",
        workload(false("QuotaReserved", "Pending", NEVER)),
        "ExceedsQuota",
        "> maximum capacity (8)",
    ),
    (
        "more than the whole quota, newer",
        workload(false("QuotaReserved", "ExceedsMaxQuota", NEVER)),
        "ExceedsQuota",
        "> maximum capacity (8)",
    ),
    (
        "too much for one flavor of two",
        workload(false("QuotaReserved", "Pending", ONE_OF_TWO)),
        "Queued",
        "flavor h100",
    ),
    (
        "no LocalQueue",
        workload(false("QuotaReserved", "Inadmissible", "LocalQueue gpu doesn't exist")),
        "QueueMissing",
        "LocalQueue gpu doesn't exist",
    ),
    (
        "no ClusterQueue, newer",
        workload(false("QuotaReserved", "Misconfigured", "ClusterQueue all doesn't exist")),
        "QueueMissing",
        "ClusterQueue all",
    ),
    (
        "a queue that is deleted",
        workload(
            false("QuotaReserved", "Inadmissible", "LocalQueue gpu is terminating or missing")
        ),
        "QueueMissing",
        "terminating or missing",
    ),
    (
        "a stopped queue",
        workload(false("QuotaReserved", "Inadmissible", "ClusterQueue all is inactive")),
        "QueueStopped",
        "is inactive",
    ),
    (
        "a stopped queue, newer",
        workload(false("QuotaReserved", "Suspended", "LocalQueue gpu is stopped")),
        "QueueStopped",
        "is stopped",
    ),
    (
        "a namespace that the queue does not accept",
        workload(
            false("QuotaReserved", "Misconfigured", "Workload namespace doesn't match ClusterQueue")
        ),
        "Inadmissible",
        "namespace",
    ),
    (
        "no flavor with such nodes",
        workload(false("QuotaReserved", "NoMatchingFlavor", "flavor a100 doesn't match")),
        "NoMatchingFlavor",
        "flavor a100",
    ),
    (
        "preempted",
        workload(
            false("QuotaReserved", "Pending", FOR),
            true("Evicted", "Preempted", FOR),
            true("Preempted", "InClusterQueue", FOR),
            false("Admitted", "NoReservation", "The workload has no reservation"),
        ),
        "Preempted",
        "Preempted to accommodate",
    ),
    (
        "preempted, and waits again",
        workload(WAITS, true("Evicted", "Preempted", FOR), REQUEUED),
        "Preempted",
        "1 more needed",
    ),
    (
        "preempted, and its queue was deleted",
        workload(
            false("QuotaReserved", "Inadmissible", "LocalQueue gpu doesn't exist"),
            true("Evicted", "Preempted", FOR),
        ),
        "QueueMissing",
        "LocalQueue gpu",
    ),
    (
        "pods were not ready in time",
        workload(
            false("QuotaReserved", "Pending", TIMEOUT), true("Evicted", "PodsReadyTimeout", TIMEOUT)
        ),
        "Evicted",
        "PodsReadyTimeout: Exceeded",
    ),
    (
        "an admission check failed",
        workload(true("Evicted", "AdmissionCheck", "At least one admission check is false")),
        "Evicted",
        "AdmissionCheck",
    ),
    (
        "its queue was stopped and drained",
        workload(
            false("QuotaReserved", "Inadmissible", "ClusterQueue all is stopped"),
            true("Evicted", "ClusterQueueStopped", "The ClusterQueue is stopped"),
        ),
        "QueueStopped",
        "is stopped",
    ),
    (
        "its node failed",
        workload(WAITS, true("Evicted", "NodeFailures", "node n1 failed")),
        "Evicted",
        "NodeFailures: node n1 failed",
    ),
    (
        "deactivated by a person",
        workload(
            false("QuotaReserved", "Deactivated", "The workload is deactivated"),
            true("Evicted", "Deactivated", "The workload is deactivated"),
            active=False,
        ),
        "Deactivated",
        "set its spec.active to true",
    ),
    (
        "deactivated by Kueue",
        workload(
            false("QuotaReserved", "Pending", LIMIT),
            true("Evicted", "DeactivatedDueToRequeuingLimitExceeded", LIMIT),
            active=False,
        ),
        "Deactivated",
        "maximum number of re-queuing retries",
    ),
    (
        "deactivated after a preemption, which Kueue does not overwrite",
        workload(WAITS, true("Evicted", "Preempted", FOR), active=False),
        "Deactivated",
        "it is deactivated",
    ),
    (
        "activated again",
        workload(
            WAITS,
            true("Evicted", "Deactivated", "The workload is deactivated"),
            true("Requeued", "Reactivated", "The workload was reactivated"),
            active=True,
        ),
        "Queued",
        "1 more needed",
    ),
    (
        "waits for an admission check",
        workload(
            true("QuotaReserved", "QuotaReserved", "Quota reserved in ClusterQueue all"),
            false("Admitted", "UnsatisfiedAdmissionChecks", ""),
            admissionChecks=[CHECK, {"name": "other", "state": "Ready"}],
        ),
        "AdmissionChecks",
        "admission check prov is Pending: waiting for nodes",
    ),
    (
        "admitted again after an eviction, and about to start",
        workload(
            true("QuotaReserved", "QuotaReserved"),
            false("Evicted", "QuotaReserved", "Previously: Preempted"),
            true("Admitted", "Admitted"),
        ),
        "Queued",
        "it is admitted",
    ),
]


@pytest.mark.parametrize(
    ("found", "reason", "words"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_what_a_workload_says(found: kueue.ObservedWorkload, reason: str, words: str) -> None:
    state = kueue.describe(found)
    assert state.reason == reason
    assert state.reason in kueue.REASONS
    assert words in state.message
    assert state.message.startswith(f"Workload {NAME}: ")


def test_the_other_ready_checks_are_not_named() -> None:
    found = workload(true("QuotaReserved", "QuotaReserved"), admissionChecks=[CHECK])
    assert "other" not in kueue.describe(found).message
