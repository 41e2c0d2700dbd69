"""Whatever Kubernetes does and whenever the operator looks: the phase never goes back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelexport_api.conditions import find_condition
from modelexport_api.status import ModelExportStatus, Phase
from modelexport_api.waits import Wait
from modelexport_operator import observe
from modelexport_operator.decide import decide
from modelexport_operator.kueue import QueueState
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import ObservedPod
from unit.operator.objects import (
    SETTINGS,
    SUCCESS,
    at,
    ended,
    export_body,
    job,
    pod,
    resource,
    running,
    terminated,
)

RANK = {Phase.PENDING: 0, Phase.RUNNING: 1, Phase.SUCCEEDED: 2, Phase.FAILED: 2}
HELD_BACK = {Phase.QUEUED, Phase.SUSPENDED}


@dataclass
class Kubernetes:
    """A Job with its pods, and the stored status of its export."""

    body: dict[str, Any] = field(default_factory=export_body)
    job: ObservedJob = field(default_factory=lambda: replace(job(), queue="gpu"))
    pods: tuple[ObservedPod, ...] = ()
    now: int = 0
    history: list[tuple[int, ModelExportStatus]] = field(default_factory=list)

    def step(self, name: str) -> None:
        """Do what a part of Kubernetes does, if it can be done now."""
        self.now += 7
        getattr(self, name)()

    @property
    def alive(self) -> ObservedPod | None:
        """The pod that has not ended."""
        return self.pods[-1] if self.pods and not self.pods[-1].ended else None

    def create_pod(self) -> None:
        if self.alive is None and not self.job.finished and not self.job.suspended:
            made = replace(pod(), name=f"digits-{self.now}", created=at(self.now))
            self.pods = (*self.pods, made)

    def no_node(self) -> None:
        if self.alive is not None and not self.alive.scheduled:
            self._change(unschedulable="no GPU", scheduled_at=at(self.now))

    def schedule(self) -> None:
        if self.alive is not None and not self.alive.scheduled:
            self._change(scheduled=True, unschedulable=None, scheduled_at=at(self.now))

    def run(self) -> None:
        if self.alive is not None and self.alive.scheduled:
            self._change(running=True, phase="Running", started_at=at(self.now))

    def fail(self) -> None:
        if self.alive is not None and self.alive.running:
            end = terminated(137)
            self._change(running=False, phase=end.phase, terminated=end.terminated)
            self.job = replace(self.job, failed=self.job.failed + 1)

    def succeed(self) -> None:
        if self.alive is not None and self.alive.running:
            end = terminated(0, SUCCESS)
            self._change(running=False, phase=end.phase, terminated=end.terminated)

    def delete_pod(self) -> None:
        self.pods = self.pods[:-1]

    def finish(self) -> None:
        end = self.pods[-1].terminated if self.pods else None
        if end is not None and end.exit_code == 0:
            self.job = replace(job(ended("Complete")), queue="gpu")

    def evict(self) -> None:
        if not self.job.finished:
            self.job, self.pods = replace(self.job, suspended=True), ()

    def admit(self) -> None:
        if self.job.suspended:
            self.job = replace(self.job, suspended=False, admitted=at(self.now))

    def look(self) -> None:
        """Let the operator observe, decide, and store the status."""
        found = observe.resource(self.body)
        pods = () if self.job.suspended else self.pods
        if found.terminal:
            return
        decision = decide(Observation(found, self.job, pods), at(self.now), SETTINGS)
        if decision.status is not None:
            self.body = {**self.body, "status": decision.status.to_wire()}
            self.history.append((self.now, decision.status))

    def _change(self, **changes: Any) -> None:  # noqa: ANN401 - values of fields
        self.pods = (*self.pods[:-1], replace(self.pods[-1], **changes))


STEPS = (
    *("look", "create_pod", "no_node", "schedule", "run", "fail", "succeed"),
    *("delete_pod", "finish", "evict", "admit"),
)
USUAL = ("create_pod", "schedule", "run", "fail", "create_pod", "schedule", "run", "succeed")
LOOKS = st.lists(st.booleans(), min_size=len(USUAL), max_size=len(USUAL))


def observed(looks: list[bool]) -> list[str]:
    """Return the usual steps, observed after some of them."""
    pairs = zip(USUAL, looks, strict=True)
    steps = [name for step, look in pairs for name in (step, *(["look"] if look else []))]
    return [*steps, "finish", "look"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(STEPS), max_size=40) | LOOKS.map(observed))
def test_the_phase_never_goes_back(steps: list[str]) -> None:
    kubernetes = Kubernetes()
    for name in steps:
        kubernetes.step(name)
    for (_, before), (now, after) in zip(kubernetes.history, kubernetes.history[1:], strict=False):
        assert before.phase is not None
        assert after.phase is not None
        assert before.completion_time is None
        if not {before.phase, after.phase} & HELD_BACK:
            assert RANK[after.phase] >= RANK[before.phase]
        for entry in after.conditions:
            earlier = find_condition(before.conditions, entry.type)
            if earlier is None:
                continue
            if earlier.status == entry.status:
                assert entry.last_transition_time == earlier.last_transition_time
            else:
                assert earlier.last_transition_time <= entry.last_transition_time <= at(now)


def test_the_usual_course_with_a_retry() -> None:
    """Observed after every step; before, the phase was Pending again between and after the pods."""
    kubernetes = Kubernetes()
    for name in (*USUAL, "finish"):
        kubernetes.step(name)
        kubernetes.look()
    phases = [status.phase for _, status in kubernetes.history]
    assert phases == ["Pending"] * 2 + ["Running"] * 6 + ["Succeeded"]
    scheduled = [find_condition(status.conditions, "Scheduled") for _, status in kubernetes.history]
    times = [entry.last_transition_time for entry in scheduled if entry is not None]
    assert times == [at(7)] + [at(14)] * 8  # the only transition: the first pod got its node


@pytest.mark.parametrize("late", [0, 3600])
def test_a_condition_changed_when_the_pod_did_not_when_the_operator_saw_it(late: int) -> None:
    found = replace(running(), scheduled_at=at(3))
    status = decide(Observation(resource(), job(), (found,)), at(4 + late), SETTINGS).status
    assert status is not None
    scheduled = find_condition(status.conditions, "Scheduled")
    assert scheduled is not None
    assert scheduled.last_transition_time == at(3)


def test_the_words_of_kueue_are_kept_until_they_are_read_again() -> None:
    state = QueueState(Wait.PREEMPTED, "Workload w: Preempted to accommodate a workload")
    condition = {
        "type": "Scheduled",
        "status": "False",
        "reason": state.reason,
        "message": state.message,
        "lastTransitionTime": at(1).isoformat(),
    }
    stored = {"phase": "Queued", "conditions": [condition]}
    queued = replace(job(), suspended=True, queue="gpu")
    status = decide(Observation(resource(status=stored), queued), at(60), SETTINGS).status
    assert status is not None
    assert (status.reason, status.message) == (state.reason, state.message)
