"""Two writers in every order of their steps: who follows the manifest has one whole artifact.

A step is a call that reads or writes a key that both writers use: the manifest and plain names.
Calls for other keys commute with all calls of the other writer, and belong to the step before.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.store import Location
from small_publication import Pod, followed, plain

Place = Callable[..., Location]
STEPS = {"read", "write_if", "copy", "digest", "delete"}
CASES = {
    "same spec": ("spec", "m-0"),
    "different specs": ("other", "m-0"),
    "batch against single": ("spec", "batch-1"),
}


class Writer:
    """A pod in a thread that stops before each step until it is told to go on."""

    def __init__(self, pod: Pod) -> None:
        self.failure: BaseException | None = None
        self.done = False
        self._may_go, self._stands = threading.Semaphore(0), threading.Semaphore(0)
        pod.publication.destination = Location(
            _Stepped(pod.destination.store, self._wait), pod.destination.key
        )
        self._thread = threading.Thread(target=self._run, args=(pod,), daemon=True)
        self._thread.start()
        self._stands.acquire()

    def step(self) -> None:
        self._may_go.release()
        self._stands.acquire()

    def _wait(self) -> None:
        self._stands.release()
        self._may_go.acquire()

    def _run(self, pod: Pod) -> None:
        try:
            pod.run()
        except ExportFailure as failure:
            if failure.reason is not Reason.DESTINATION_EXISTS:
                self.failure = failure
        except BaseException as error:  # noqa: BLE001 - raised by the test
            self.failure = error
        self.done = True
        self._stands.release()


@dataclass
class _Stepped:
    """A store that waits before each step."""

    store: Any
    wait: Callable[[], None]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a method of a store
        method = getattr(self.store, name)
        if name not in STEPS:
            return method

        def stepped(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
            self.wait()
            return method(*arguments, **named)

        return stepped


@dataclass
class Schedule:
    """Which writer goes on at each step: given choices first, then the first that can."""

    given: list[int]
    taken: list[int] = field(default_factory=list)
    open: list[list[int]] = field(default_factory=list)
    """The other choices at each step."""

    def choose(self, possible: list[int]) -> int:
        at = len(self.taken)
        choice = self.given[at] if at < len(self.given) else possible[0]
        self.taken.append(choice)
        self.open.append([other for other in possible if other > choice])
        return choice

    def next(self) -> list[int] | None:
        """The choices of the next schedule in depth-first order; None after the last."""
        for at in reversed(range(len(self.taken))):
            if self.open[at]:
                return [*self.taken[:at], self.open[at][0]]
        return None


def play(destination: Location, directory: Path, case: str, schedule: Schedule) -> None:
    """Run both writers in the order of a schedule, with a reader after each step."""
    spec, resource = CASES[case]
    pods = [
        Pod(destination, directory, "first"),
        Pod(destination, directory, "other", spec, resource),
    ]
    writers = [Writer(pod) for pod in pods]
    seen: list[bytes] = []
    while possible := [number for number, writer in enumerate(writers) if not writer.done]:
        writers[schedule.choose(possible)].step()
        found = followed(destination)
        assert found is not None or not seen, "an artifact that was there is gone"
        if found is not None:
            seen.append(found)
    assert [writer.failure for writer in writers] == [None, None], schedule.taken
    assert plain(destination) == followed(destination), schedule.taken
    changes = sum(before != after for before, after in itertools.pairwise(seen))
    assert changes <= (case == "different specs"), "each is published once"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("root", ["file"], indirect=True)
def test_every_interleaving_on_a_directory(
    place: Place, tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    given: list[int] | None = []
    count = 0
    while given is not None:
        schedule = Schedule(given)
        play(place(f"{count}/"), tmp_path, case, schedule)
        given = schedule.next()
        count += 1
    print(f"{case}: {count} interleavings")
    assert count > 100


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("root", [pytest.param("s3", marks=pytest.mark.s3)], indirect=True)
def test_some_interleavings_in_a_bucket(place: Place, tmp_path: Path, case: str) -> None:
    for seed in range(5):
        draw = random.Random(seed)
        play(place(f"{seed}/"), tmp_path, case, _Drawn([], draw=draw))


@dataclass
class _Drawn(Schedule):
    draw: random.Random = field(default_factory=random.Random)

    def choose(self, possible: list[int]) -> int:
        choice = self.draw.choice(possible)
        self.taken.append(choice)
        return choice
