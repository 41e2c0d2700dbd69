"""If the operator crashes between two writes, its successor reaches the same result."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_operator import observe
from modelexport_operator.decide import decide
from modelexport_operator.decisions import CreateJob, Decision
from modelexport_operator.observe import Observation
from unit.operator.objects import (
    NOW,
    SETTINGS,
    SUCCESS,
    ended,
    export_body,
    failure,
    job,
    terminated,
)

EXPORTED = (Stage.FETCH, Stage.LOAD, Stage.CAPTURE, Stage.CONVERT, Stage.CONTRACT)


class Cluster:
    """The stored state: one export, its Jobs, and pods that end as scripted."""

    def __init__(self, script: list[tuple[int, Any, str]]) -> None:
        self.body = export_body()
        self.jobs: dict[str, int] = {}
        self.script = script

    def observe(self) -> Observation:
        seen = Observation(observe.resource(self.body))
        if not self.jobs:
            return seen
        run = max(self.jobs.values())
        exit_code, result, reason = self.script[min(run, len(self.script)) - 1]
        done = ended("Complete") if exit_code == 0 else ended("Failed", "PodFailurePolicy")
        pods = () if reason == "lost" else (terminated(exit_code, result, reason),)
        return replace(seen, job=job(done, run), pods=pods)

    def apply(self, decision: Decision, steps: int) -> int:
        """Carry out at most `steps` writes of the decision; return how many were left over."""
        if isinstance(decision.action, CreateJob):
            if steps == 0:
                return 0
            meta = decision.action.manifest["metadata"]
            self.jobs.setdefault(meta["name"], int(meta["annotations"]["modelexport.dev/run"]))
            return steps - 1
        if decision.status is not None and steps:
            self.body = {**self.body, "status": decision.status.to_wire()}
            return steps - 1
        return steps


SCRIPTS: dict[str, list[tuple[int, Any, str]]] = {
    "succeeds": [(0, SUCCESS, "")],
    "fails": [(15, failure(Reason.VERIFICATION_FAILED, Stage.VERIFY, *EXPORTED), "Error")],
    "result lost once": [(0, SUCCESS, "lost"), (0, SUCCESS, "")],
    "result lost twice": [(0, SUCCESS, "lost"), (0, SUCCESS, "lost")],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.parametrize("lives", [(0, 1, 9), (1, 9), (1, 0, 1, 0, 1, 9), (2, 9), (9,)])
def test_any_crash_leads_to_the_same_result(
    script: list[tuple[int, Any, str]], lives: tuple[int, ...]
) -> None:
    """Each process ends after a number of writes; the last one runs long enough."""

    def outcome(cluster: Cluster, budgets: tuple[int, ...]) -> tuple[Any, Any]:
        for budget in budgets:
            left = budget
            for _ in range(6):
                decision = decide(cluster.observe(), NOW + timedelta(seconds=60), SETTINGS)
                left = cluster.apply(decision, left)
                if left == 0:
                    break
        return cluster.body["status"], cluster.jobs

    assert outcome(Cluster(script), lives) == outcome(Cluster(script), (9,))
