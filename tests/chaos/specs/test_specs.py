"""A short part of `make chaos PART=specs`; and that a wrong decision is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from bed.control_plane import ControlPlane
from chaos.specs import course
from chaos.specs.part import Admission, against, as_stored, manifest
from cluster.operator.world import CRDS
from modelexport_api.status import Phase
from modelexport_operator.decide import decide
from modelexport_operator.decisions import Decision
from modelexport_operator.observe import Observation
from modelexport_operator.settings import Settings

SEEDS = range(20)
Decide = Callable[[Observation, datetime, Settings], Decision]


def problems() -> str:
    bodies = [manifest(seed) for seed in SEEDS]
    for number, body in enumerate(bodies):
        body["metadata"]["uid"] = f"0f1e2d3c-0000-4000-8000-{number:012}"
    return " ".join(
        one
        for seed, body in zip(SEEDS, bodies, strict=True)
        for one in course.problems(as_stored(body), seed)
    )


def test_decisions_are_as_promised() -> None:
    assert not problems()


def creates_after_the_end(seen: Observation, now: datetime, settings: Settings) -> Decision:
    return decide(replace(seen, resource=replace(seen.resource, terminal=False)), now, settings)


def forgets_the_job(seen: Observation, now: datetime, settings: Settings) -> Decision:
    return decide(replace(seen, job=None) if not seen.pods else seen, now, settings)


def goes_back(seen: Observation, now: datetime, settings: Settings) -> Decision:
    phase = Phase.PENDING if seen.resource.status.phase is Phase.RUNNING else Phase.RUNNING
    return _with_status(decide(seen, now, settings), phase=phase)


def writes_another_type(seen: Observation, now: datetime, settings: Settings) -> Decision:
    return _with_status(decide(seen, now, settings), observed_generation="1")


def raises(seen: Observation, now: datetime, settings: Settings) -> Decision:
    raise KeyError(seen.resource.name)


def _with_status(decision: Decision, **changes: Any) -> Decision:  # noqa: ANN401 - wrong values
    if decision.status is None:
        return decision
    return replace(decision, status=decision.status.model_copy(update=changes))


@pytest.mark.filterwarnings("ignore:Pydantic serializer")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (creates_after_the_end, "after the end"),
        (forgets_the_job, "a second Job while one runs"),
        (goes_back, "went back from Running to Pending"),
        (writes_another_type, "invalid status"),
        (raises, "KeyError"),
    ],
)
def test_a_wrong_decision_is_noticed(
    monkeypatch: pytest.MonkeyPatch, wrong: Decide, words: str
) -> None:
    monkeypatch.setattr(course, "decide", wrong)
    assert words in problems()


@pytest.mark.control_plane
def test_specs_through_a_real_admission(control_plane: ControlPlane) -> None:
    control_plane.kubectl("apply", "--filename", CRDS)
    control_plane.wait_for_crds()
    rows = list(against(Admission(control_plane), range(100)))
    assert [row.held for row in rows] == [row.tried for row in rows]
    assert rows[0].tried == 100
    assert rows[1].tried > 50
