"""A short part of `make chaos PART=operator`, and the promises by a table."""

from __future__ import annotations

from typing import Any

import pytest

from chaos.operator.part import plans
from chaos.operator.place import Place
from chaos.operator.promises import History, Script, broken
from chaos.operator.study import SUCCEEDS, Round
from chaos.operator.troubles import PROXIED, Trouble

OFTEN = {Trouble.KILL, Trouble.RESTART, Trouble.JOB, Trouble.ERRORS}
DONE: dict[str, Any] = {
    "phase": "Succeeded",
    "artifact": {},
    "conditions": [{"type": "Complete", "status": "True"}],
}
REFUSED = Script("Failed", "VerificationFailed", (10,))


def history(**changes: object) -> History:
    made = History("u", ["", "Pending", "Running", "Succeeded"], {"a": False}, set(), DONE, 1)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("changes", "script", "kind", "words"),
    [
        ({"status": {"phase": "Running"}}, SUCCEEDS, "lost", "did not end"),
        ({"end_events": 0}, SUCCEEDS, "lost", "no Event"),
        ({"jobs": {"a": False, "b": False}}, SUCCEEDS, "doubled", "2 Jobs, 1 expected"),
        ({"jobs": {"a": True}}, SUCCEEDS, "doubled", "after its end"),
        ({"end_events": 2}, SUCCEEDS, "doubled", "2 Events"),
        ({}, REFUSED, "wrong", "not Failed VerificationFailed"),
        ({"status": DONE | {"conditions": []}}, SUCCEEDS, "wrong", "conditions"),
        ({"phases": ["Running", "Pending", "Succeeded"]}, SUCCEEDS, "wrong", "went back"),
    ],
)
def test_what_is_broken(changes: dict[str, object], script: Script, kind: str, words: str) -> None:
    found = broken("e", script, history(**changes))
    assert words in " ".join(getattr(found, kind))


def test_nothing_is_broken() -> None:
    assert not broken("e", SUCCEEDS, history())
    again = {"jobs": {"a": False, "b": False}, "deleted_by_hand": {"a"}}
    assert not broken("e", SUCCEEDS, history(**again, phases=["Running", "Pending", "Succeeded"]))


def test_the_page_has_enough_of_each_kind() -> None:
    made = plans(None)
    counts = {kind: sum(p.times for p in made if p.trouble is kind) for kind in Trouble}
    assert counts.pop(Trouble.KILL) == 200
    assert {one.exports for one in made if one.trouble is Trouble.KILL} == {50}
    assert all(20 <= count <= 40 for count in counts.values())
    assert [one.trouble for one in plans(5 * len(Trouble))] == list(Trouble)


@pytest.mark.control_plane
@pytest.mark.parametrize(
    "trouble",
    [one if one in OFTEN else pytest.param(one, marks=pytest.mark.nightly) for one in Trouble],
    ids=str,
)
def test_all_exports_end_as_they_would(place: Place, trouble: Trouble) -> None:
    if trouble is Trouble.CLOCK and place.clock is None:
        pytest.skip("no C compiler")
    with place.operators(proxied=trouble in PROXIED) as operators:
        outcome = Round(place, operators, seed=1).run(trouble, exports=6, times=2)
    assert len(outcome.instants) == 2
    assert not outcome.broken, outcome.broken
