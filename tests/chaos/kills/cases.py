"""Which process is killed when: drawn from a seed, the same each time. Pure."""

from __future__ import annotations

import random
import signal
from dataclasses import dataclass
from itertools import count, islice

from chaos.kills.pod import Victim


@dataclass(frozen=True)
class Moment:
    """A part of the victim's life, as long as that was in a run without kills."""

    fraction: float


@dataclass(frozen=True)
class Change:
    """The log's first line of a stage: the number of the change, modulo those that there are."""

    number: int


@dataclass(frozen=True)
class Write:
    """Just before or just after a write to the store, modulo those that there are."""

    number: int

    def of(self, writes: int) -> tuple[int, bool]:
        """Return the write's number, and whether it is done."""
        place = self.number % (2 * writes)
        return place // 2, bool(place % 2)


Instant = Moment | Change | Write


@dataclass(frozen=True)
class Kill:
    """A signal to a process."""

    victim: Victim
    number: signal.Signals = signal.SIGKILL

    def __str__(self) -> str:
        return f"{self.number.name} {'of' if self.number is signal.SIGKILL else 'to'} {self.victim}"


KILLS = (*(Kill(victim) for victim in Victim), Kill(Victim.SUPERVISOR, signal.SIGTERM))
GONE = Kill(Victim.ALL)


@dataclass(frozen=True)
class Kind:
    """A row of the table."""

    kill: Kill
    batch: bool
    at_writes: bool = False

    def __str__(self) -> str:
        what = "batch" if self.batch else "single run"
        when = " between two writes to the store" if self.at_writes else ""
        return f"{what}: {self.kill}{when}"


KINDS = tuple(
    Kind(kill, batch, at_writes)
    for batch in (False, True)
    for kill, at_writes in (*((kill, False) for kill in KILLS), (GONE, True))
)
_VERIFY = frozenset({Victim.REFERENCE, Victim.JUDGE})
"""They run during few stages."""
_TURN = (
    *(kind for kind in KINDS if not kind.batch),
    *KINDS,
    *(kind for kind in KINDS if kind.at_writes),
)
"""Single runs twice as often as batches, which take longer; writes more often than the rest."""


@dataclass(frozen=True)
class Case:
    """One kill."""

    number: int
    kind: Kind
    instant: Instant
    replaces: bool
    """Whether an earlier artifact is at the destination."""
    cold: bool
    """Whether both runs are executed, and import torch, instead of forked from what has."""


def draw(total: int, seed: int) -> list[Case]:
    """Return so many cases; a smaller total is the beginning of a larger one."""
    dice = random.Random(seed)
    numbers = {(kind, form): count() for kind in KINDS for form in (Change, Write)}

    def instant(kind: Kind) -> Instant:
        moment = Moment(dice.random())
        if kind.at_writes:
            return Write(next(numbers[kind, Write]))
        is_change = dice.random() < 1 / 3 and kind.kill.victim not in _VERIFY
        return Change(next(numbers[kind, Change])) if is_change else moment

    def cases() -> list[Case]:
        turns = (_TURN[number % len(_TURN)] for number in count())
        return [
            Case(number, kind, instant(kind), dice.random() < 1 / 3, dice.random() < 1 / 6)
            for number, kind in enumerate(islice(turns, total))
        ]

    return cases()
