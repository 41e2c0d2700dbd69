"""The failure of a Job or pod: a reason from the closed list, a message and a hint.

The pod's own result takes precedence. If the pod could not write one (killed by the kernel, never
started, never created), the message contains what Kubernetes reports, and the pod's last log.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from modelexport_api.conditions import find_condition
from modelexport_api.pod import CONTAINER
from modelexport_api.reasons import PERMANENT_EXIT_CODES, Reason
from modelexport_api.status import ConditionType, Failure, ModelExportStatus, Stage, new_failure
from modelexport_operator import deadlines
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import NEVER_RAN, ObservedPod, Terminated
from modelexport_operator.rejections import is_refusal

CANNOT_START = {
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "RegistryUnavailable",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
}
"""Waiting reasons of a container that cannot start until a person corrects something."""

_KILLED = 137


def failure_of_rejected_job(message: str) -> Failure:
    """Return the failure of a Job that the API server rejected."""
    return new_failure(
        Reason.POD_REJECTED,
        f"the API server rejected the Job: {message}",
        "create a new ModelExport with a corrected spec.podTemplate",
    )


def failure_of_rejected_result(message: str) -> Failure:
    """Return the failure of an export whose result does not fit into the status."""
    return new_failure(
        Reason.INTERNAL_ERROR,
        f"the API server rejected the status with the pod's result: {message}",
        "read the report and the pod's log; code other than the exporter wrote the result",
    )


def reason_to_stop(seen: Observation, now: datetime, grace: timedelta) -> Failure | None:
    """Return why the Job must stop, although Kubernetes would retry or wait.

    In a batch, the failure of one pod never stops the others: the next pod skips a checkpoint that
    is too large for its memory, and a node may be broken.
    """
    if seen.job is not None and seen.job.shares is not None:
        if _has_begun(seen):
            return None
    elif (exceeded := _check_limits(seen.pods)) is not None:
        return exceeded
    for pod in seen.pods:
        if pod.terminated and pod.terminated.reason in NEVER_RAN:
            return _cannot_start(pod.terminated.reason, pod.terminated.message)
    stuck = next((pod for pod in seen.pods if pod.waiting_reason in CANNOT_START), None)
    if stuck is not None and _stuck_since(seen.resource.status, now) + grace <= now:
        return _cannot_start(stuck.waiting_reason or "", stuck.waiting_message)
    return _failure_of_rejected_pod(seen, now, grace)


def failure_of_finished_job(seen: Observation, job: ObservedJob) -> Failure | None:
    """Return why a Job failed, or None if the pod that failed was deleted."""
    if job.stopped is not None:
        return job.stopped
    exceeded = _check_limits(seen.pods) if job.shares is None else None
    if exceeded is not None:
        return exceeded
    if job.failed_reason == "DeadlineExceeded":
        return deadlines.failure_of_active_deadline(seen, job)
    ended = [pod for pod in seen.pods if pod.terminated is not None or pod.phase == "Failed"]
    return _failure_of_pods(ended, job)


def describe_pod_failure(pod: ObservedPod) -> str:
    """Return the failure that a pod reported, or else what Kubernetes reports about it."""
    own = pod.terminated.result.failure if pod.terminated and pod.terminated.result else None
    if own is not None:
        return own.message
    if pod.terminated is not None and is_out_of_memory(pod.terminated):
        return _out_of_memory(pod).message
    return _describe_exit(pod)


def finished_at(pod: ObservedPod) -> float:
    """Return the time when a pod ended, as a number to sort by."""
    end = pod.terminated
    when = end.finished_at if end is not None and end.finished_at is not None else pod.created
    return when.timestamp() if when is not None else 0


def is_out_of_memory(end: Terminated) -> bool:
    """Return whether the kernel killed the container for its memory before it wrote a result."""
    return end.reason == "OOMKilled" and end.exit_code != 0 and end.result is None


def failure_of_lost_result(job: ObservedJob) -> Failure:
    """Return the failure of a Job whose result was lost twice."""
    return new_failure(
        Reason.RESULT_LOST,
        f"no result of Job {job.name} could be read, for the second time: its pod was deleted, or "
        "ended without a readable result",
        "find out what deletes the pods (a cleanup controller, a drained node), then create the "
        "ModelExport again: published artifacts are not exported again",
    )


def _check_limits(pods: tuple[ObservedPod, ...]) -> Failure | None:
    for pod in pods:
        if pod.terminated and is_out_of_memory(pod.terminated):
            return _out_of_memory(pod)
        if _is_over_disk_limit(pod):
            return _disk_full(pod)
    return None


def _has_begun(seen: Observation) -> bool:
    """Return whether a pod has run."""
    ran = (pod.terminated for pod in seen.pods if pod.terminated)
    return (
        seen.resource.status.start_time is not None
        or any(pod.running for pod in seen.pods)
        or any(end.reason not in NEVER_RAN for end in ran)
    )


def _failure_of_pods(pods: list[ObservedPod], job: ObservedJob) -> Failure | None:
    permanent = next((pod for pod in pods if _is_permanent(pod)), None)
    if permanent is not None:
        return _failure_of_pod(permanent)
    if not pods or job.failed_reason == "PodFailurePolicy":
        return None  # the pod that failed was deleted; the remaining ones were retried
    return _retries_exhausted(max(pods, key=finished_at), job)


def _is_permanent(pod: ObservedPod) -> bool:
    return pod.terminated is not None and pod.terminated.exit_code in PERMANENT_EXIT_CODES


def _failure_of_pod(pod: ObservedPod) -> Failure:
    end = pod.terminated
    if end is not None and end.result is not None and end.result.failure is not None:
        return end.result.failure
    return new_failure(
        Reason.INTERNAL_ERROR,
        f"pod {pod.name} ended with {_describe_exit(pod)} and left no result",
        "read the pod's log; this is a bug in the exporter",
        stage=_last_stage(pod),
    )


def _retries_exhausted(pod: ObservedPod, job: ObservedJob) -> Failure:
    end = pod.terminated
    own = end.result.failure if end and end.result else None
    last = f"{own.reason}: {own.message}" if own else _describe_exit(pod)
    count = f"{job.failed} pods failed" if job.failed != 1 else "1 pod failed"
    return new_failure(
        Reason.RETRIES_EXHAUSTED,
        f"{count} and spec.backoffLimit is {job.backoff_limit}; last pod ({pod.name}): {last}",
        own.hint if own else "read the pod's log and Events to find out what killed it",
        stage=own.stage if own else _last_stage(pod),
    )


def _out_of_memory(pod: ObservedPod) -> Failure:
    limit = f"its memory limit of {pod.memory_limit}" if pod.memory_limit else "the node's memory"
    stage = _last_stage(pod)
    during = f" during {stage}" if stage else ""
    peak = pod.log.peak_memory_bytes
    reported = f"; its last reported peak is {peak / 2**20:.0f} MiB" if peak else ""
    return new_failure(
        Reason.OUT_OF_MEMORY,
        f"the kernel killed the container{during}: it exceeded {limit}{reported}",
        f"increase resources.limits.memory of the container `{CONTAINER}` in spec.podTemplate",
        stage=stage,
    )


def _is_over_disk_limit(pod: ObservedPod) -> bool:
    """Return whether the kubelet evicted the pod for its own limits, not for node pressure.

    Node pressure sets the condition DisruptionTarget, and the pod is retried on another node.
    """
    has_result = pod.terminated is not None and pod.terminated.result is not None
    return pod.failed_reason == "Evicted" and not pod.disrupted and not has_result


def _disk_full(pod: ObservedPod) -> Failure:
    return new_failure(
        Reason.DISK_FULL,
        f"the pod was evicted: {pod.failed_message.strip()}",
        "increase sizeLimit of volume `work` or the ephemeral-storage limit in spec.podTemplate",
        stage=_last_stage(pod),
    )


def _cannot_start(reason: str, message: str) -> Failure:
    return new_failure(
        Reason.POD_CANNOT_START,
        f"the pod cannot start: {reason}{': ' if message else ''}{message}",
        "check the image and imagePullSecrets in spec.podTemplate, and that the Secret named by "
        "spec.storage.secretName exists in this namespace",
    )


def _failure_of_rejected_pod(seen: Observation, now: datetime, grace: timedelta) -> Failure | None:
    """Return why no pod can be created. What may pass (quota, a busy server) is no failure."""
    job, rejection = seen.job, seen.pod_rejection
    if job is None or rejection is None or seen.pods or not is_refusal(rejection):
        return None
    if job.admitted is None or job.admitted + grace > now:
        return None
    return new_failure(
        Reason.POD_REJECTED,
        f"the API server rejected the pod: {rejection.message}",
        "correct spec.podTemplate, spec.serviceAccountName or the policies of the namespace",
    )


def _stuck_since(status: ModelExportStatus, now: datetime) -> datetime:
    exported = find_condition(status.conditions, ConditionType.EXPORTED)
    stuck = exported is not None and exported.status == "False"
    return exported.last_transition_time if exported is not None and stuck else now


def _last_stage(pod: ObservedPod) -> Stage | None:
    return pod.log.progress.stage if pod.log.progress else None


def _describe_exit(pod: ObservedPod) -> str:
    end = pod.terminated
    if pod.failed_reason:
        return f"{pod.failed_reason}: {pod.failed_message.strip()}"
    if end is None:
        return "no exit code"
    killed = " (SIGKILL)" if end.exit_code == _KILLED else ""
    reason = f", {end.reason}" if end.reason not in {"", "Error"} else ""
    return f"exit code {end.exit_code}{killed}{reason}"
