"""History limits: only the oldest finished exports above the limit are deleted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.trigger import HistoryLimits, ModelExportTriggerStatus
from modelexport_operator.triggers.history import Child, observe_child, surplus
from unit.operator.triggers.test_ledger import at

PHASES = ["Succeeded", "Failed", "Running", "Queued", "Pending", "Suspended", ""]


def child(number: int, phase: str = "Succeeded") -> Child:
    ended = f"2026-05-01T12:00:{number:02d}Z" if phase in {"Succeeded", "Failed"} else ""
    return Child(f"uid-{number}", "team", f"export-{number}", phase, ended, at(number))


def recorded(*numbers: int) -> ModelExportTriggerStatus:
    return ModelExportTriggerStatus(processed=[at(number) for number in numbers])


@pytest.mark.parametrize(
    ("limits", "gone"),
    [
        (HistoryLimits(), []),
        (HistoryLimits(successful=3, failed=2), []),
        (HistoryLimits(successful=1), [0, 2]),
        (HistoryLimits(failed=1), [1]),
        (HistoryLimits(successful=0, failed=0), [0, 2, 4, 1, 3]),
    ],
    ids=["none", "not reached", "successes", "failures", "zero"],
)
def test_the_oldest_above_the_limit_are_deleted(limits: HistoryLimits, gone: list[int]) -> None:
    phases = ["Succeeded", "Failed", "Succeeded", "Failed", "Succeeded", "Running"]
    children = [child(number, phase) for number, phase in enumerate(phases)]
    found = surplus(reversed(children), limits, recorded(*range(6)))
    assert [entry.name for entry in found] == [f"export-{number}" for number in gone]


def test_a_child_that_is_not_in_the_ledger_is_kept() -> None:
    children = [child(0), child(1)]
    assert surplus(children, HistoryLimits(successful=0), recorded(1)) == [children[1]]


@given(
    st.lists(st.sampled_from(PHASES), max_size=30),
    st.integers(0, 5),
    st.sets(st.integers(0, 29)),
)
def test_unfinished_exports_are_never_deleted(
    phases: list[str], limit: int, known: set[int]
) -> None:
    children = [child(number, phase) for number, phase in enumerate(phases)]
    found = surplus(children, HistoryLimits(successful=limit, failed=limit), recorded(*known))
    assert all(entry.ended for entry in found)
    for phase in ("Succeeded", "Failed"):
        ended = [entry for entry in children if entry.phase == phase]
        assert len([entry for entry in found if entry.phase == phase]) <= max(0, len(ended) - limit)


def body(**owner: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    meta = {"uid": "u", "namespace": "team", "name": "n"}
    return {"metadata": {**meta, "ownerReferences": [owner]}}


def test_children_are_identified_by_their_owner() -> None:
    owner = {"kind": "ModelExportTrigger", "uid": "t", "controller": True}
    found = observe_child(body(**owner))
    assert found is not None
    assert found[0] == "t"
    assert observe_child(body(**{**owner, "kind": "Job"})) is None
    assert (
        observe_child({"metadata": {"uid": "u", "labels": {"modelexport.dev/trigger-uid": "t"}}})
        is None
    )
