"""Which failures are retried, and the messages about it.

Kubernetes retries according to the Job's podFailurePolicy; this module describes it to users:

- a permanent exit code (a user error, a verdict) ends the Job without a retry;
- a disrupted pod (a drained node, preemption) is replaced and does not count;
- everything else counts towards `backoffLimit`: an unreachable store, a killed pod. In a batch,
  each share has its own count.
"""

from __future__ import annotations

from dataclasses import dataclass

from modelexport_api.reasons import PERMANENT_EXIT_CODES, Reason
from modelexport_api.waits import Wait
from modelexport_operator import failures, indexed
from modelexport_operator.decisions import Event
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import ObservedPod


@dataclass(frozen=True)
class Retry:
    """A pod that failed, and the next attempt."""

    pod: str
    share: int | None
    counts: bool
    attempt: int
    of: int
    reason: str
    message: str

    def __str__(self) -> str:
        """Return the retry as text."""
        share = f"share {self.share}, " if self.share is not None else ""
        return f"{share}attempt {self.attempt} of {self.of}: {self.reason}: {self.message}"


def latest(seen: Observation) -> Retry | None:
    """Return the last failure that is retried, or None."""
    job = seen.job
    if job is None or job.finished or job.stopped is not None:
        return None
    ended = _ended_shares(seen, job)
    failed = [pod for pod in seen.pods if _is_retried(pod) and pod.index not in ended]
    if not failed:
        return None
    pod = max(failed, key=failures.finished_at)
    retry = _retry(pod, seen, job)
    return retry if retry.attempt <= retry.of else None


def events(retry: Retry | None) -> tuple[Event, ...]:
    """Return the Event about a retried pod; it is created once per pod."""
    if retry is None:
        return ()
    if retry.counts:
        return (Event("Warning", Wait.RETRYING, str(retry), retry.pod),)
    message = f"pod {retry.pod} was disrupted; this does not count as an attempt: {retry.message}"
    return (Event("Normal", "Rescheduled", message, retry.pod),)


def _retry(pod: ObservedPod, seen: Observation, job: ObservedJob) -> Retry:
    if pod.index is not None:
        before = pod.index_failures + (not pod.disrupted)
    else:
        counted = sum(_is_retried(other) and not other.disrupted for other in seen.pods)
        before = max(job.failed, counted)
    return Retry(
        pod=pod.name,
        share=pod.index,
        counts=not pod.disrupted,
        attempt=before + 1,
        of=job.backoff_limit + 1,
        reason=_reason(pod),
        message=failures.describe_pod_failure(pod),
    )


def _reason(pod: ObservedPod) -> str:
    end = pod.terminated
    if end is not None and end.result is not None and end.result.failure is not None:
        return end.result.failure.reason
    if end is not None and failures.is_out_of_memory(end):
        return Reason.OUT_OF_MEMORY
    return pod.failed_reason or Reason.POD_KILLED


def _is_retried(pod: ObservedPod) -> bool:
    if pod.terminated is None:
        return pod.phase == "Failed"
    return pod.terminated.exit_code not in {0, *PERMANENT_EXIT_CODES} or pod.disrupted


def _ended_shares(seen: Observation, job: ObservedJob) -> set[int]:
    """Return the shares that have succeeded, or failed permanently."""
    listed = indexed.parse(job.completed_indexes) | indexed.parse(job.failed_indexes)
    succeeded = {
        pod.index
        for pod in seen.pods
        if pod.index is not None and pod.terminated and pod.terminated.exit_code == 0
    }
    return listed | succeeded
