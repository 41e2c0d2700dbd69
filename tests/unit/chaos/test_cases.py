from __future__ import annotations

from collections import Counter

from chaos.kills.cases import KINDS, Change, Moment, Write, draw
from chaos.kills.pod import Life, Victim
from chaos.kills.study import Rehearsal

WHOLE = Rehearsal({Victim.SUPERVISOR: Life(0.0, 10.0)}, [1.0, 4.0, 8.0], writes=2)


def test_a_smaller_study_is_the_beginning_of_a_larger_one() -> None:
    assert draw(200, 3)[:20] == draw(20, 3)
    assert draw(20, 3) != draw(20, 4)


def test_each_kind_is_in_a_study() -> None:
    counts = Counter(case.kind for case in draw(200, 0))
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 7


def test_writes_are_hit_before_and_after_each() -> None:
    assert [Write(number).of(2) for number in range(5)] == [
        (0, False),
        (0, True),
        (1, False),
        (1, True),
        (0, False),
    ]


def test_an_instant_is_reached_by_the_change_of_the_stage_before_it() -> None:
    assert WHOLE.anchor(Moment(0.5), Victim.ALL) == (1, 1.0)
    assert WHOLE.anchor(Moment(0.05), Victim.SUPERVISOR) == (-1, 0.5)
    assert WHOLE.anchor(Change(4), Victim.SUPERVISOR) == (1, 0.0)
