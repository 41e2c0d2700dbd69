"""ModelExports as they are stored: one for each state, and random histories; built by `decide`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage
from modelexport_operator import observe
from modelexport_operator.decide import decide
from modelexport_operator.decisions import Acknowledge
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import ObservedPod
from modelexport_operator.rejections import Cause, Rejection
from unit.operator.objects import (
    BATCH,
    SETTINGS,
    SUCCESS,
    Object,
    at,
    batch_job,
    ended,
    export_body,
    failure,
    job,
    of_index,
    pod,
    result_of,
    running,
    share,
    terminated,
    waiting,
)

UNOBSERVED: Object = {"observedGeneration": -1}
"""The status that the API server gives to a new object."""
VERIFY: Object = {"mode": "Verify", "artifact": {"uri": "s3://models/foreign.onnx"}}
INVALID: Object = {"podTemplate": {"spec": {"hostNetwork": True}}}

Pods = tuple[ObservedPod, ...]
QUEUED = replace(job(), suspended=True, queue="gpu")
UNSCHEDULABLE = replace(pod(), unschedulable="0/1 nodes are available: 1 Insufficient gpu.")
MISMATCH = terminated(ExitCode.VERIFICATION, failure(Reason.VERIFICATION_FAILED, Stage.VERIFY))
UNREACHABLE = terminated(ExitCode.RETRYABLE, failure(Reason.STORE_UNAVAILABLE, Stage.FETCH))
DONE = job(ended("Complete"))
WRONG = job(ended("Failed", "PodFailurePolicy"))
EXHAUSTED = job(ended("Failed", "BackoffLimitExceeded"))
LATE = job(ended("Failed", "DeadlineExceeded"))
BATCH_DONE = batch_job({**ended("Complete"), "succeeded": 2, "completedIndexes": "0,1"})
SHARES = (
    of_index(0, terminated(0, result_of(share(0, 2, failed=1)))),
    of_index(1, terminated(0, result_of(share(1, 2)))),
)

STATES: list[tuple[str, Object, ObservedJob | None, Pods, str]] = [
    ("pending", {}, job(), (pod(),), "InProgress"),
    ("unschedulable", {}, job(), (UNSCHEDULABLE,), "InProgress"),
    ("cannot start yet", {}, job(), (waiting("ImagePullBackOff", "no such image"),), "InProgress"),
    ("queued", {}, QUEUED, (), "InProgress"),
    ("suspended", {"suspend": True}, None, (), "InProgress"),
    ("running", {}, job(), (running(),), "InProgress"),
    ("running again", {}, job({"active": 1, "failed": 1}), (UNREACHABLE, running()), "InProgress"),
    ("running batch", BATCH, batch_job(), (of_index(0, running()),), "InProgress"),
    ("succeeded", {}, DONE, (terminated(0, SUCCESS),), "Current"),
    ("verified", VERIFY, DONE, (terminated(0, SUCCESS),), "Current"),
    ("batch with allowed failures", {**BATCH, "maxFailed": 1}, BATCH_DONE, SHARES, "Current"),
    ("batch partially failed", BATCH, BATCH_DONE, SHARES, "Failed"),
    ("failed verification", {}, WRONG, (MISMATCH,), "Failed"),
    ("retries exhausted", {}, EXHAUSTED, (UNREACHABLE,), "Failed"),
    ("deadline exceeded", {}, LATE, (), "Failed"),
    ("invalid", INVALID, None, (), "Failed"),
]
"""Name, spec, Job, pods; and what kstatus must compute."""


def stored(spec: Object, found: ObservedJob | None, pods: Pods) -> Object:
    """The export after the first status that `decide` writes."""
    body = export_body(spec, UNOBSERVED)
    decision = decide(Observation(observe.resource(body), found, pods), at(60), SETTINGS)
    assert decision.status is not None
    return {**body, "status": decision.status.to_wire()}


@dataclass(frozen=True)
class Step:
    """What has changed when the operator looks again."""

    toggles: bool
    job: ObservedJob | None
    pods: Pods
    job_rejection: str | None
    pod_rejection: Rejection | None


_SPECS = st.sampled_from([{}, VERIFY, BATCH, {**BATCH, "maxFailed": 1}, INVALID])
_JOBS = st.sampled_from(
    [
        None,
        job(),
        QUEUED,
        replace(job(), deleting=True),
        DONE,
        replace(DONE, run=2),
        WRONG,
        EXHAUSTED,
        LATE,
        batch_job(),
        BATCH_DONE,
        batch_job({**ended("Failed", "FailedIndexes"), "failedIndexes": "0"}),
    ]
)
_PODS = st.lists(
    st.sampled_from(
        [
            pod(),
            UNSCHEDULABLE,
            waiting("ImagePullBackOff", "no such image"),
            running(),
            terminated(0, SUCCESS),
            terminated(0),
            terminated(137, reason="OOMKilled"),
            MISMATCH,
            UNREACHABLE,
            *SHARES,
        ]
    ),
    max_size=3,
).map(tuple)
_STEPS = st.builds(
    Step,
    toggles=st.booleans(),
    job=_JOBS,
    pods=_PODS,
    job_rejection=st.sampled_from([None, None, None, 'unknown field "nodeSelectr"']),
    pod_rejection=st.sampled_from([None, Rejection("exceeded quota: compute", Cause.QUOTA)]),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Object]:
    """Draw an export that is observed again and again; every version that is stored."""
    body = export_body(draw(_SPECS), UNOBSERVED)
    return [body, *_versions(body, draw(st.lists(_STEPS, min_size=1, max_size=6)))]


def _versions(body: Object, steps: list[Step]) -> Iterator[Object]:
    for number, step in enumerate(steps, start=1):
        if step.toggles:
            suspended = body["spec"].get("suspend", False)
            generation = body["metadata"]["generation"] + 1
            body = {
                **body,
                "metadata": {**body["metadata"], "generation": generation},
                "spec": {**body["spec"], "suspend": not suspended},
            }
            yield body
        seen = Observation(
            observe.resource(body), step.job, step.pods, step.job_rejection, step.pod_rejection
        )
        decision = decide(seen, at(60 * number), SETTINGS)
        if decision.status is not None:
            body = {**body, "status": decision.status.to_wire()}
            yield body
        elif isinstance(decision.action, Acknowledge):
            seen_generation = {"observedGeneration": body["metadata"]["generation"]}
            body = {**body, "status": {**body["status"], **seen_generation}}
            yield body
