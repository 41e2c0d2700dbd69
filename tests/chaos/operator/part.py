"""The part of the suite: rounds of each kind of trouble, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chaos.journal import Row
from chaos.operator.place import Place
from chaos.operator.study import Outcome, Round
from chaos.operator.troubles import PROXIED, Trouble

TITLE = "The operator"
TEXT = """\
The operator runs as a process with the permissions of its chart, on a real etcd, API server and
controller manager. Exports are created one after the other; a thread in place of the kubelet runs
their pods for 0 to 2 s each: of five exports three succeed, one of them after a pod that found the
store busy, and two are refused, one of them after such a pod. Meanwhile one kind of trouble is made
five times while ten exports run, up to 3 s after an operator began to lead; SIGKILL of a single
operator 20 times while 50 run. A replica that ends by itself is started again, as the kubelet does.

How the trouble is made: a proxy in front of the API server, to which the operator's kubeconfig
points, answers a third of the requests itself (a write that is answered with 500 may have been
done; all watches expire once), delays a share of requests, answers and events of watches, or breaks
off all connections. While these are broken off, etcd is compacted to its newest revision and the
API server is killed, so that the watches resume from a version that is gone. A C library that the
operator is started with lets its wall clock jump. The CRDs are deleted and applied again with
kubectl; what was deleted with them is created again, as GitOps does. The Node object is deleted
while its kubelet is gone: Kubernetes fails and deletes its pods, which is a disruption and counts
as no attempt.

A watch keeps all that happens. Each export has to end as its pods say, with the verdict's
condition, and with one Event of its end; it has one Job, one more for each that was deleted by hand
while it ran, and none after its end; its phase never goes back. No Job is left of an export that
was deleted with its CRD.

`make chaos PART=operator` makes SIGKILL of a single operator 200 times in 10 rounds, and each other
kind 20 times in 4. A round counts as lost, doubled, wrong or leaked with all of its instants. The
remarks show that the trouble reached the operator: answers by status, late answers, replicas that
ended (without a Lease, or without a CRD for 30 s), exports and pods that were lost.
"""


@dataclass(frozen=True)
class Plan:
    """A round of one kind of trouble."""

    trouble: Trouble
    exports: int = 10
    times: int = 5


_KILLS = (Plan(Trouble.KILL, exports=50, times=20),) * 10
_ROUNDS = 4
"""Of each other kind."""


def plans(count: int | None) -> tuple[Plan, ...]:
    """Return the rounds of the page, or of so many troubles by turns of one round of each kind."""
    if count is None:
        others = [Plan(one) for one in Trouble if one is not Trouble.KILL]
        return (*_KILLS, *others * _ROUNDS)
    turns = [Plan(one) for one in Trouble]
    return tuple(turns[n % len(turns)] for n in range(max(1, count // turns[0].times)))


def run(count: int | None, seed: int) -> Iterable[Row]:
    """Make the trouble of each round."""
    from bed import beds

    outcomes: list[Outcome] = []
    with beds.control_plane_running() as plane, Place.on(plane) as place:
        for number, plan in enumerate(plans(count)):
            with place.operators(proxied=plan.trouble in PROXIED) as operators:
                made = Round(place, operators, seed * 1000 + number)
                outcomes.append(made.run(plan.trouble, plan.exports, plan.times))
            held = outcomes[-1].broken or "held"
            print(f"{number} {plan.trouble}: {held} {dict(outcomes[-1].seen)}", flush=True)
    yield from rows(outcomes)


def rows(outcomes: Sequence[Outcome]) -> Iterator[Row]:
    """Count the instants of each kind of trouble."""
    for trouble in Trouble:
        mine = [one for one in outcomes if one.trouble is trouble]
        if not mine:
            continue
        instants = [instant for one in mine for instant in one.instants]
        yield Row(
            part="operator",
            what=str(trouble),
            tried=len(instants),
            held=sum(len(one.instants) for one in mine if not one.broken),
            lost=sum(len(one.instants) for one in mine if one.broken.lost),
            doubled=sum(len(one.instants) for one in mine if one.broken.doubled),
            wrong=sum(len(one.instants) for one in mine if one.broken.wrong),
            leaked=sum(len(one.instants) for one in mine if one.broken.leaked),
            remarks=f"{sum(one.exports for one in mine)} exports in {len(mine)} rounds; "
            f"{min(instants):.2f} to {max(instants):.2f} s after it began to lead"
            f"{_seen(mine)}",
        )


def _seen(outcomes: Sequence[Outcome]) -> str:
    total: Counter[str] = sum((one.seen for one in outcomes), Counter())
    found = ", ".join(f"{what}: {count}" for what, count in sorted(total.items()))
    return f"; {found}" if found else ""
