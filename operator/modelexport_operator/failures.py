"""How a Job or pod ends becomes a reason from the closed list, a message and a hint.

The pod's own words win. Where it had no chance to speak (killed by the kernel, never started,
never created) the message is made of what Kubernetes says, and of the last thing the pod said.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from modelexport_api.pod import CONTAINER
from modelexport_api.reasons import PERMANENT_EXIT_CODES, Reason
from modelexport_api.status import ConditionType, Failure, ModelExportStatus, Stage
from modelexport_operator import deadlines
from modelexport_operator.facts import condition, failure
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import NEVER_RAN, ObservedPod, Terminated

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
"""Waiting reasons of a container that will not start without somebody's help."""

_KILLED = 137
_QUOTA = "exceeded quota"


def refused_job(message: str) -> Failure:
    """Return the failure of a Job that the API server did not take."""
    return failure(
        Reason.POD_REJECTED,
        f"the API server refused the Job: {message}",
        "correct spec.podTemplate in a new ModelExport",
    )


def refused_result(message: str) -> Failure:
    """Return the failure of an export whose pod said what no status can hold."""
    return failure(
        Reason.INTERNAL_ERROR,
        f"the API server refused the status made of the pod's result: {message}",
        "read the report and the pod's log; something other than the exporter wrote its result",
    )


def reason_to_stop(seen: Observation, now: datetime, grace: timedelta) -> Failure | None:
    """Return why the Job must not go on, although Kubernetes would retry or wait.

    In a batch the trouble of one pod never ends the others: a checkpoint that is too large for
    the pod's memory is passed over by the pod that follows, and a node may be broken.
    """
    if seen.job is not None and seen.job.shares is not None:
        if _has_begun(seen):
            return None
    elif (beyond := _beyond_limits(seen.pods)) is not None:
        return beyond
    for pod in seen.pods:
        if pod.terminated and pod.terminated.reason in NEVER_RAN:
            return _cannot_start(pod.terminated.reason, pod.terminated.message)
    stuck = next((pod for pod in seen.pods if pod.waiting_reason in CANNOT_START), None)
    if stuck is not None and _stuck_since(seen.resource.status, now) + grace <= now:
        return _cannot_start(stuck.waiting_reason or "", stuck.waiting_message)
    return _refused_pod(seen, now, grace)


def of_finished(seen: Observation, job: ObservedJob) -> Failure | None:
    """Return why a Job failed, or None when the pod that knew it is gone."""
    if job.stopped is not None:
        return job.stopped
    beyond = _beyond_limits(seen.pods) if job.shares is None else None
    if beyond is not None:
        return beyond
    if job.failed_reason == "DeadlineExceeded":
        return deadlines.active_exceeded(seen, job)
    over = [pod for pod in seen.pods if pod.terminated is not None or pod.phase == "Failed"]
    return _of_ended(over, job)


def last_words(pod: ObservedPod) -> str:
    """Return what a pod said when it failed, or what Kubernetes says about it."""
    told = pod.terminated.result.failure if pod.terminated and pod.terminated.result else None
    if told is not None:
        return told.message
    if pod.terminated is not None and is_out_of_memory(pod.terminated):
        return _out_of_memory(pod).message
    return _ending(pod)


def finished_at(pod: ObservedPod) -> float:
    """Return when a pod ended, as a number to sort by."""
    end = pod.terminated
    when = end.finished_at if end is not None and end.finished_at is not None else pod.created
    return when.timestamp() if when is not None else 0


def is_out_of_memory(end: Terminated) -> bool:
    """Tell whether the kernel killed the container for its memory before it could answer."""
    return end.reason == "OOMKilled" and end.exit_code != 0 and end.result is None


def result_lost(job: ObservedJob) -> Failure:
    """Return the failure of a Job whose result was lost twice."""
    return failure(
        Reason.RESULT_LOST,
        f"no result of Job {job.name} could be read, for the second time: its pod was gone, or "
        "ended without a readable answer",
        "find out what deletes the pods (an aggressive clean-up, a node that is drained), and "
        "create the ModelExport again: what was published is found and not exported twice",
    )


def _beyond_limits(pods: tuple[ObservedPod, ...]) -> Failure | None:
    for pod in pods:
        if pod.terminated and is_out_of_memory(pod.terminated):
            return _out_of_memory(pod)
        if _is_over_disk_limit(pod):
            return _disk_full(pod)
    return None


def _has_begun(seen: Observation) -> bool:
    """Tell whether any pod ever ran."""
    ran = (pod.terminated for pod in seen.pods if pod.terminated)
    return (
        seen.resource.status.start_time is not None
        or any(pod.running for pod in seen.pods)
        or any(end.reason not in NEVER_RAN for end in ran)
    )


def _of_ended(pods: list[ObservedPod], job: ObservedJob) -> Failure | None:
    permanent = next((pod for pod in pods if _is_permanent(pod)), None)
    if permanent is not None:
        return _of_pod(permanent)
    if not pods or job.failed_reason == "PodFailurePolicy":
        return None  # by a pod that is gone; those that are left were retried
    return _retries_exhausted(max(pods, key=finished_at), job)


def _is_permanent(pod: ObservedPod) -> bool:
    return pod.terminated is not None and pod.terminated.exit_code in PERMANENT_EXIT_CODES


def _of_pod(pod: ObservedPod) -> Failure:
    end = pod.terminated
    if end is not None and end.result is not None and end.result.failure is not None:
        return end.result.failure
    return failure(
        Reason.INTERNAL_ERROR,
        f"pod {pod.name} ended with {_ending(pod)} and left no result",
        "read the pod's log; this is a defect of the exporter",
        stage=_last_stage(pod),
    )


def _retries_exhausted(pod: ObservedPod, job: ObservedJob) -> Failure:
    end = pod.terminated
    told = end.result.failure if end and end.result else None
    last = f"{told.reason}: {told.message}" if told else _ending(pod)
    count = f"{job.failed} pods failed" if job.failed != 1 else "1 pod failed"
    return failure(
        Reason.RETRIES_EXHAUSTED,
        f"{count} and spec.backoffLimit is {job.backoff_limit}; the last one ({pod.name}): {last}",
        told.hint if told else "read the pod's log and events; something ended it from outside",
        stage=told.stage if told else _last_stage(pod),
    )


def _out_of_memory(pod: ObservedPod) -> Failure:
    limit = f"its memory limit of {pod.memory_limit}" if pod.memory_limit else "the node's memory"
    stage = _last_stage(pod)
    during = f" during {stage}" if stage else ""
    peak = pod.log.peak_memory_bytes
    told = f"; the last peak it reported was {peak / 2**20:.0f} MiB" if peak else ""
    return failure(
        Reason.OUT_OF_MEMORY,
        f"the kernel killed the container{during}: it reached {limit}{told}",
        f"raise resources.limits.memory of the container `{CONTAINER}` in spec.podTemplate",
        stage=stage,
    )


def _is_over_disk_limit(pod: ObservedPod) -> bool:
    """Tell whether the kubelet evicted the pod for its own limits, not for the node's pressure.

    Pressure of the node comes with the condition DisruptionTarget, and is retried elsewhere.
    """
    spoke = pod.terminated is not None and pod.terminated.result is not None
    return pod.failed_reason == "Evicted" and not pod.disrupted and not spoke


def _disk_full(pod: ObservedPod) -> Failure:
    return failure(
        Reason.DISK_FULL,
        f"the pod was evicted: {pod.failed_message.strip()}",
        "raise sizeLimit of the volume `work`, or limits of ephemeral-storage, in spec.podTemplate",
        stage=_last_stage(pod),
    )


def _cannot_start(reason: str, message: str) -> Failure:
    return failure(
        Reason.POD_CANNOT_START,
        f"the pod cannot start: {reason}{': ' if message else ''}{message}",
        "check the image and imagePullSecrets in spec.podTemplate, and that the Secret named by "
        "spec.storage.secretName exists in this namespace",
    )


def _refused_pod(seen: Observation, now: datetime, grace: timedelta) -> Failure | None:
    """Return why no pod can be made. A quota may be freed and is waited for."""
    job, message = seen.job, seen.pod_refused
    if job is None or message is None or seen.pods or _QUOTA in message:
        return None
    if job.admitted is None or job.admitted + grace > now:
        return None
    return failure(
        Reason.POD_REJECTED,
        f"the API server refused the pod: {message}",
        "correct spec.podTemplate or spec.serviceAccountName, or what the namespace allows",
    )


def _stuck_since(status: ModelExportStatus, now: datetime) -> datetime:
    exported = condition(status, ConditionType.EXPORTED)
    stuck = exported is not None and exported.status == "False"
    return exported.last_transition_time if exported is not None and stuck else now


def _last_stage(pod: ObservedPod) -> Stage | None:
    return pod.log.progress.stage if pod.log.progress else None


def _ending(pod: ObservedPod) -> str:
    end = pod.terminated
    if pod.failed_reason:
        return f"{pod.failed_reason}: {pod.failed_message.strip()}"
    if end is None:
        return "no exit code"
    killed = " (killed from outside)" if end.exit_code == _KILLED else ""
    reason = f", {end.reason}" if end.reason not in {"", "Error"} else ""
    return f"exit code {end.exit_code}{killed}{reason}"
