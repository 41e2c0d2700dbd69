"""Two writers in threads of which one goes on at a time, in every order of their steps.

A step is a call that reads or writes a key that both writers use. Calls for other keys commute with
all calls of the other writer, and belong to the step before.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Act = Callable[["Wait"], None]
"""What a writer does; it calls the argument before each step."""
Wait = Callable[[], None]


class Writer:
    """A writer in a thread that stops before each step until it is told to go on."""

    def __init__(self, act: Act) -> None:
        self.failure: BaseException | None = None
        self.done = False
        self._may_go, self._stands = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, args=(act,), daemon=True)
        self._thread.start()
        self._stands.acquire()

    def step(self) -> None:
        """Let it do its next step."""
        self._may_go.release()
        self._stands.acquire()

    def _wait(self) -> None:
        self._stands.release()
        self._may_go.acquire()

    def _run(self, act: Act) -> None:
        try:
            act(self._wait)
        except BaseException as error:  # noqa: BLE001 - raised by the test
            self.failure = error
        self.done = True
        self._stands.release()


@dataclass
class Stepped:
    """A store that waits before each step."""

    store: Any
    wait: Wait
    is_step: Callable[[str, tuple[Any, ...]], bool]
    """Asked with the method and its arguments."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a method of a store
        method = getattr(self.store, name)
        if not callable(method):
            return method

        def stepped(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
            if self.is_step(name, arguments):
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
        """Return the number of the writer whose step is next."""
        at = len(self.taken)
        choice = self.given[at] if at < len(self.given) else possible[0]
        self.taken.append(choice)
        self.open.append([other for other in possible if other > choice])
        return choice

    def next(self) -> list[int] | None:
        """Return the choices of the next schedule in depth-first order; None after the last."""
        for at in reversed(range(len(self.taken))):
            if self.open[at]:
                return [*self.taken[:at], self.open[at][0]]
        return None


@dataclass
class Drawn(Schedule):
    """A schedule that is drawn."""

    draw: random.Random = field(default_factory=random.Random)

    def choose(self, possible: list[int]) -> int:
        """Return the number of the writer whose step is next."""
        choice = self.draw.choice(possible)
        self.taken.append(choice)
        return choice


def every(play: Callable[[Schedule], None]) -> Iterator[Schedule]:
    """Play every schedule; yield each after it was played."""
    given: list[int] | None = []
    while given is not None:
        schedule = Schedule(given)
        play(schedule)
        given = schedule.next()
        yield schedule


def run(acts: Sequence[Act], schedule: Schedule, watch: Callable[[], None]) -> None:
    """Run writers in the order of a schedule; `watch` is called after each step. Raises."""
    writers = [Writer(act) for act in acts]
    while possible := [number for number, writer in enumerate(writers) if not writer.done]:
        writers[schedule.choose(possible)].step()
        watch()
    assert [writer.failure for writer in writers] == [None for _ in writers], schedule.taken
