"""The failure of a Job: reason, message and stage."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Progress, Stage
from modelexport_operator import pods
from modelexport_operator.decide import decide
from modelexport_operator.decisions import StopJob
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import LogTail, ObservedPod
from unit.operator.objects import (
    SETTINGS,
    at,
    ended,
    failure,
    job,
    own_conditions,
    pod,
    pod_body,
    resource,
    terminated,
)

BY_POLICY = job(ended("Failed", "PodFailurePolicy"))
EXHAUSTED = job(ended("Failed", "BackoffLimitExceeded"))
LATE = job(ended("Failed", "DeadlineExceeded"))
BEFORE_VERIFY = (Stage.FETCH, Stage.LOAD, Stage.CAPTURE, Stage.CONVERT, Stage.CONTRACT)

MISMATCH = terminated(15, failure(Reason.VERIFICATION_FAILED, Stage.VERIFY, *BEFORE_VERIFY))
NOT_FOUND = terminated(11, failure(Reason.SOURCE_NOT_FOUND, Stage.FETCH))
UNREACHABLE = terminated(75, failure(Reason.STORE_UNAVAILABLE, Stage.FETCH))


def oom() -> ObservedPod:
    tail = LogTail(Progress(stage=Stage.VERIFY, percent=80), 1900 * 2**20)
    return replace(terminated(137, reason="OOMKilled"), memory_limit="2Gi", log=tail)


def unstarted(reason: str, message: str = "", **status: object) -> ObservedPod:
    body = pod_body(phase="Failed", nodeName="node-1")
    body["status"] |= {"reason": reason, "message": message, **status}
    return pods.observe_pod(body)


INIT = {"name": "warm", "state": {"terminated": {"exitCode": 3}}}
DISRUPTED = {"type": "DisruptionTarget", "status": "True"}

ROWS: list[tuple[str, ObservedJob, tuple[ObservedPod, ...], Reason, str]] = [
    ("the pod's own result", BY_POLICY, (NOT_FOUND,), Reason.SOURCE_NOT_FOUND, "found this"),
    ("a permanent code first", BY_POLICY, (UNREACHABLE, MISMATCH), Reason.VERIFICATION_FAILED, ""),
    ("a code, no result", BY_POLICY, (terminated(13),), Reason.INTERNAL_ERROR, "exit code 13"),
    ("no retries left", EXHAUSTED, (UNREACHABLE,), Reason.RETRIES_EXHAUSTED, "StoreUnavailable: "),
    ("killed each time", EXHAUSTED, (terminated(137),), Reason.RETRIES_EXHAUSTED, "SIGKILL"),
    ("no device left for the pod", EXHAUSTED,
        (unstarted("UnexpectedAdmissionError", "no healthy devices"),),
        Reason.RETRIES_EXHAUSTED, "UnexpectedAdmissionError: no healthy devices"),
    ("an init container fails", EXHAUSTED, (unstarted("", initContainerStatuses=[INIT]),),
        Reason.RETRIES_EXHAUSTED, "warm ended with exit code 3"),
    ("over its disk limit", EXHAUSTED,
        (unstarted("Evicted", 'EmptyDir volume "work" exceeds the limit "50Gi"'),),
        Reason.DISK_FULL, 'exceeds the limit "50Gi"'),
    ("evicted from a full node", EXHAUSTED,
        (unstarted("Evicted", "The node was low", conditions=[DISRUPTED]),),
        Reason.RETRIES_EXHAUSTED, "Evicted: The node was low"),
    ("out of memory: the limit", EXHAUSTED, (oom(),), Reason.OUT_OF_MEMORY, "memory limit of 2Gi"),
    ("out of memory: the peak", EXHAUSTED, (oom(),), Reason.OUT_OF_MEMORY, "1900 MiB"),
    ("out of memory: the stage", EXHAUSTED, (oom(),), Reason.OUT_OF_MEMORY, "during Verify"),
    (
        "detected by the exporter",
        BY_POLICY,
        (terminated(18, failure(Reason.OUT_OF_MEMORY, Stage.LOAD), "OOMKilled"),),
        Reason.OUT_OF_MEMORY,
        "found this",
    ),
    ("too late", LATE, (), Reason.DEADLINE_EXCEEDED, "3600 s"),
    ("stopped by the operator", job(ended("Failed", "DeadlineExceeded"),
        failure='{"reason": "PodCannotStart", "message": "no such image"}'), (),
        Reason.POD_CANNOT_START, "no such image"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("found", "pods", "reason", "words"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_reason(
    found: ObservedJob, pods: tuple[ObservedPod, ...], reason: Reason, words: str
) -> None:
    status = decide(Observation(resource(), found, pods), at(60), SETTINGS).status
    assert status is not None
    assert status.failure is not None
    assert status.failure.reason == reason
    assert words in status.failure.message
    assert status.phase == "Failed"
    final = status.conditions[-1]
    assert (final.type, final.status, final.reason) == ("Failed", "True", reason)


WHERE = [
    ("before a pod ran", LATE, (pod(),), ["False", "False", "False", "False"]),
    ("in fetch", BY_POLICY, (NOT_FOUND,), ["True", "False", "False", "False"]),
    ("killed in verify", EXHAUSTED, (UNREACHABLE, oom()), ["True", "True", "False", "False"]),
    ("in verify", BY_POLICY, (MISMATCH,), ["True", "True", "False", "False"]),
    (
        "in publish",
        BY_POLICY,
        (
            terminated(
                16,
                failure(Reason.DESTINATION_DENIED, Stage.PUBLISH, *BEFORE_VERIFY, Stage.VERIFY),
            ),
        ),
        ["True", "True", "True", "False"],
    ),
]


@pytest.mark.parametrize(
    ("found", "pods", "wanted"), [row[1:] for row in WHERE], ids=[row[0] for row in WHERE]
)
def test_conditions_show_the_failed_stage(
    found: ObservedJob, pods: tuple[ObservedPod, ...], wanted: list[str]
) -> None:
    status = decide(Observation(resource(), found, pods), at(60), SETTINGS).status
    assert status is not None
    stages = own_conditions(status)[:4]
    assert [entry.status for entry in stages] == wanted
    false = [entry.reason for entry in stages if entry.status == "False"]
    assert status.failure is not None
    assert false[0] == status.failure.reason
    assert set(false[1:]) <= {"NotReached"}


def test_the_failure_of_a_retried_pod_is_not_the_failure_of_the_job() -> None:
    """The pod that ended the Job was deleted, an earlier one is left: run the Job again."""
    decision = decide(Observation(resource(), BY_POLICY, (UNREACHABLE,)), at(60), SETTINGS)
    assert decision.action is not None


def test_an_exceeded_deadline_contains_the_last_state() -> None:
    condition = {
        "type": "Scheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "1 Insufficient nvidia.com/gpu",
        "lastTransitionTime": "2026-05-01T12:00:00Z",
    }
    stored = resource(status={"conditions": [condition]})
    status = decide(Observation(stored, LATE), at(60), SETTINGS).status
    assert status is not None
    assert status.failure is not None
    assert "no pod could be scheduled: 1 Insufficient nvidia.com/gpu" in status.failure.message


def test_a_pod_over_its_disk_limit_is_not_retried() -> None:
    seen = Observation(resource(), job({"active": 0, "failed": 1}), (unstarted("Evicted", "disk"),))
    decision = decide(seen, at(60), SETTINGS)
    assert isinstance(decision.action, StopJob)
    assert decision.action.failure.reason == Reason.DISK_FULL
