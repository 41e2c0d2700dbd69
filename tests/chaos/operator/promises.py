"""What is promised of each export, whatever happened to the operator: pure, from its history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

ORDER = ("", "Pending", "Queued", "Suspended", "Running", "Succeeded", "Failed")
ENDS = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True)
class Script:
    """How the pods of an export end, in turn; and so the export."""

    phase: str
    reason: str
    pods: tuple[int, ...]
    """Their exit codes."""


@dataclass
class History:
    """What a watch saw of one export."""

    uid: str = ""
    phases: list[str] = field(default_factory=list)
    """Each once for each change."""
    jobs: dict[str, bool] = field(default_factory=dict)
    """UIDs of its Jobs; whether the export had ended when the Job was first seen."""
    deleted_by_hand: set[str] = field(default_factory=set)
    """UIDs of Jobs: one that is created again has the name of the earlier one."""
    status: dict[str, Any] = field(default_factory=dict)
    """The last one."""
    end_events: int = 0
    """Events of the end."""

    @property
    def ended(self) -> bool:
        """Return whether it has ended."""
        return self.status.get("phase") in ENDS

    def saw_status(self, status: dict[str, Any]) -> None:
        """Note a status."""
        self.status = status
        phase = status.get("phase", "")
        if not self.phases or self.phases[-1] != phase:
            self.phases.append(phase)

    def saw_job(self, uid: str) -> None:
        """Note a Job."""
        self.jobs.setdefault(uid, self.ended)


@dataclass(frozen=True)
class Broken:
    """The promises that were broken, as sentences."""

    lost: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    leaked: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is one."""
        return bool(self.lost or self.doubled or self.wrong or self.leaked)


def broken(name: str, script: Script, history: History) -> Broken:
    """Return what was broken for an export."""
    return Broken(
        tuple(_lost(name, history)),
        tuple(_doubled(name, history)),
        tuple(_wrong(name, script, history)),
    )


def together(found: Sequence[Broken]) -> Broken:
    """Return what was broken for any of them."""
    return Broken(
        tuple(one for entry in found for one in entry.lost),
        tuple(one for entry in found for one in entry.doubled),
        tuple(one for entry in found for one in entry.wrong),
        tuple(one for entry in found for one in entry.leaked),
    )


def _lost(name: str, history: History) -> Iterator[str]:
    if not history.ended:
        yield f"{name} did not end; it is {history.status.get('phase') or 'blank'}"
    elif not history.end_events:
        yield f"{name} has no Event of its end"


def _doubled(name: str, history: History) -> Iterator[str]:
    wanted = 1 + len(history.deleted_by_hand)
    if len(history.jobs) > wanted:
        yield f"{name} had {len(history.jobs)} Jobs, {wanted} expected"
    if any(history.jobs.values()):
        yield f"{name} got a Job after its end"
    if history.end_events > 1:
        yield f"{name} has {history.end_events} Events of its end"


def _wrong(name: str, script: Script, history: History) -> Iterator[str]:
    if not history.ended:
        return
    phase, status = history.status["phase"], history.status
    reason = status.get("failure", {}).get("reason", "")
    if (phase, reason) != (script.phase, script.reason):
        yield f"{name} is {phase} {reason}, and not {script.phase} {script.reason}"
    if (phase == "Succeeded") != ("artifact" in status):
        yield f"{name} is {phase}, and its artifact is {status.get('artifact')}"
    conditions = {one["type"]: one["status"] for one in status.get("conditions", [])}
    if (conditions.get("Complete") == "True") != (phase == "Succeeded"):
        yield f"{name} is {phase}, and its conditions are {conditions}"
    places = [ORDER.index(one) for one in history.phases]
    if not history.deleted_by_hand and places != sorted(places):
        yield f"{name} went back: {' '.join(history.phases)}"
