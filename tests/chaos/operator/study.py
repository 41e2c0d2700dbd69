"""A round: exports on a control plane, and trouble for the operator at drawn instants."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from bed.processes import BedError
from chaos.operator.observer import UNREACHABLE, Node, Watch
from chaos.operator.place import Place
from chaos.operator.promises import Broken, Script, broken, together
from chaos.operator.troubles import OF_REPLICAS, Maker, Trouble
from cluster.operator.replica import LEASE, Operators, Replica
from cluster.operator.world import World, eventually
from modelexport_api.reasons import ExitCode, Reason
from modelexport_operator import names

SUCCEEDS = Script("Succeeded", "", (ExitCode.DONE,))
SCRIPTS = (
    SUCCEEDS,
    SUCCEEDS,
    Script("Succeeded", "", (ExitCode.RETRYABLE, ExitCode.DONE)),
    Script("Failed", Reason.VERIFICATION_FAILED, (ExitCode.VERIFICATION,)),
    Script("Failed", Reason.VERIFICATION_FAILED, (ExitCode.RETRYABLE, ExitCode.VERIFICATION)),
)
END_SECONDS = 180
"""After the last trouble; a machine that does other things is slow."""
_LEASES: dict[Trouble, dict[str, object]] = {
    # Its watches have to survive that.
    Trouble.COMPACT: {
        "name": LEASE,
        "durationSeconds": 60,
        "renewSeconds": 50,
        "retrySeconds": 0.5,
    },
    # As in the chart: a leader survives most delays.
    Trouble.SLOW: {"name": LEASE, "durationSeconds": 15, "renewSeconds": 10, "retrySeconds": 2},
}
_COLLECTED_SECONDS = 120
"""For Kubernetes to delete what belonged to deleted exports."""


@dataclass(frozen=True)
class Outcome:
    """How a round ended."""

    trouble: Trouble
    instants: tuple[float, ...]
    """In s after the operator began to lead, each."""
    exports: int
    broken: Broken
    seen: Counter[str]
    """What shows that the trouble reached the operator."""


class Round:
    """Makes one kind of trouble several times while exports run, and checks what was promised."""

    def __init__(self, place: Place, operators: Operators, seed: int) -> None:
        self._place, self._operators = place, operators
        self._world = World(place.plane, operators.namespace)
        self._draw = random.Random(seed)
        self._watch = Watch(self._world)
        self._replicas: list[Replica] = []
        self._settings: dict[str, object] = {}
        self._created: list[str] = []
        self._seen: Counter[str] = Counter()

    def run(self, trouble: Trouble, exports: int, times: int) -> Outcome:
        """Return how it ended."""
        scripts = {f"e-{n:03}": SCRIPTS[n % len(SCRIPTS)] for n in range(exports)}
        if trouble in _LEASES:
            self._settings["lease"] = {"name": LEASE, **_LEASES[trouble]}
        self._watch.start()
        for _ in range(2 if trouble is Trouble.STANDBY else 1):
            self._start()
        before = Counter(self._place.proxy.answered)
        creator = threading.Thread(target=self._create, args=(list(scripts), times), daemon=True)
        node = Node(self._world, scripts, random.Random(self._draw.random()))
        if trouble is Trouble.NODE:
            node.join()
        maker = self._maker(node)
        with node.running():
            creator.start()
            instants = tuple(self._one(trouble, maker) for _ in range(times))
            creator.join()
            with suppress(AssertionError):
                eventually(lambda: self._have_ended(exports), "all end", END_SECONDS)
        self._read_events(scripts)
        self._watch.close()
        found = [broken(name, one, self._watch.histories[name]) for name, one in scripts.items()]
        if trouble is Trouble.CRDS:
            found.append(Broken(leaked=self._leaked()))
        self._seen += self._place.proxy.answered - before
        self._seen["exports deleted with their CRD"] = self._watch.deleted
        self._seen["pods on the lost nodes"] = node.lost
        return Outcome(trouble, instants, exports, together(found), +self._seen)

    def _maker(self, node: Node) -> Maker:
        return Maker(
            place=self._place,
            world=self._world,
            node=node,
            watch=self._watch,
            draw=self._draw,
            tend=self._start_again,
            create_again=self._create_again,
        )

    def _create(self, names: list[str], times: int) -> None:
        """Create the exports over the time of the trouble."""
        for name in names:
            self._create_one(name)
            self._created.append(name)
            time.sleep(self._draw.uniform(0, 2 * times / len(names)))

    def _create_again(self) -> None:
        for name in list(self._created):
            self._create_one(name)

    def _create_one(self, name: str) -> None:
        _until_done(lambda: self._world.create(name))

    def _one(self, trouble: Trouble, maker: Maker) -> float:
        eventually(self._one_leads, "one leads", 60)
        instant = self._draw.uniform(0, 3)
        time.sleep(instant)
        if trouble in OF_REPLICAS:
            leader = next((one for one in self._replicas if one.leads()), self._replicas[0])
            self._replicas.remove(leader)
            leader.terminate() if trouble is Trouble.STOP else leader.kill()
            self._start()
        else:
            maker.make(trouble)
        return instant

    def _one_leads(self) -> bool:
        self._start_again()
        return any(one.leads() for one in self._replicas)

    def _have_ended(self, exports: int) -> bool:
        self._start_again()
        return self._watch.all_ended(exports)

    def _start_again(self) -> None:
        """Start a replica for each that ended, as the kubelet does: a leader without Lease ends."""
        for ended in [one for one in self._replicas if not one.child.running]:
            self._replicas.remove(ended)
            self._seen["replicas that ended by themselves"] += 1
            self._start()

    def _start(self) -> None:
        name = f"operator-{self._operators.count % 2}"
        self._replicas.append(self._operators.start(name, **self._settings))

    def _leaked(self) -> tuple[str, ...]:
        """Return the Jobs whose export does not exist, once Kubernetes had time to delete them."""
        left: list[str] = []

        def collected() -> bool:
            exist = {one.uid for one in self._watch.histories.values()}
            left[:] = [
                f"{job['metadata']['name']} is left of a deleted export"
                for job in self._world.all_jobs()
                if job["metadata"]["labels"][names.UID_LABEL] not in exist
            ]
            return not left

        with suppress(AssertionError):
            eventually(collected, "Jobs of deleted exports are deleted", _COLLECTED_SECONDS)
        return tuple(left)

    def _read_events(self, scripts: dict[str, Script]) -> None:
        """Count the Events of the ends, which the operator creates after the status."""
        for name, script in scripts.items():
            history, reason = self._watch.histories[name], script.reason or "Complete"
            if not history.ended:
                continue

            def count(name: str = name, reason: str = reason) -> int:
                return sum(event["reason"] == reason for event in self._world.events(name))

            with suppress(AssertionError):
                eventually(count, "an Event of the end", 10)
            history.end_events = count()


def _until_done(act: Callable[[], object]) -> None:
    deadline = time.monotonic() + END_SECONDS
    while True:
        try:
            act()
        except UNREACHABLE as error:
            if getattr(error, "status", 0) == 409:  # it was created, and the answer got lost
                return
            if time.monotonic() > deadline:
                raise BedError(f"the API server does not answer: {error}") from error
            time.sleep(0.1)
        else:
            return
