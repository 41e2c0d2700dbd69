"""Cases: one fault at one request of a run, or at it and all of its kind that follow."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from chaos.faults.operations import Operation, Request
from chaos.faults.proxy import Action, passed_on
from chaos.faults.rules import RULES, Rule


class Place(StrEnum):
    """Whose requests."""

    SOURCE = "source"
    DESTINATION = "destination"


@dataclass(frozen=True)
class Target:
    """Requests of one operation at one place."""

    place: Place
    operation: Operation

    @staticmethod
    def of(request: Request) -> Target:
        """Return what a request is one of."""
        is_source = "/source/" in request.key
        return Target(Place.SOURCE if is_source else Place.DESTINATION, request.operation)


PUBLISHING = frozenset((Operation.PUT_IF, Operation.COPY))
"""The last of these completes the artifact."""


@dataclass
class Case:
    """A fault in a run."""

    rule: Rule
    target: Target
    stays: bool
    skipped: int
    """Requests that are passed on before it."""
    tidying: bool = False
    """Whether what it meets comes after the artifact is published."""
    met: int = 0
    """How often it was applied."""

    def __post_init__(self) -> None:
        self._left = self.skipped
        self._action = self.rule.new_action()

    @property
    def name(self) -> str:
        """Say what is done to what."""
        often = "from" if self.stays else "at"
        return (
            f"{self.rule.name}, {often} request {self.skipped + 1} of "
            f"{self.target.operation} ({self.target.place})"
        )

    def choose(self, request: Request) -> Action:
        """Return what to do to a request."""
        if not self._is_meant(request) or (self.met and not self.stays):
            return passed_on
        if self._left:
            self._left -= 1
            return passed_on
        self.met += 1
        return self._action

    def _is_meant(self, request: Request) -> bool:
        return Target.of(request) == self.target and self.rule.where(request)


def all_cases(seen: Iterable[Request], seed: int) -> list[Case]:
    """Return a case of each fault at each kind of request of a run, once and for good.

    `seen`: the requests of a run without faults. Which of a kind meets the fault first is drawn.
    """
    requests = list(seen)
    published = max(place for place, found in enumerate(requests) if found.operation in PUBLISHING)
    cases = []
    for rule in RULES:
        for target in dict.fromkeys(map(Target.of, requests)):
            met = [
                place
                for place, found in enumerate(requests)
                if Target.of(found) == target and rule.where(found)
            ]
            if target.operation in rule.operations and met:
                for stays in (False, True):
                    draw = random.Random(f"{seed} {rule.name} {target} {stays}")
                    first = draw.randrange(len(met))
                    cases.append(Case(rule, target, stays, first, met[first] > published))
    return cases
