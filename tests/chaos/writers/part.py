"""Two writers in every order of their calls on files, in some on a real S3 server."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from chaos.journal import Row
from chaos.writers.interleave import Drawn, Schedule
from modelexport_api.claims import CLAIMS_DIR_ENV

PART = "writers"
TITLE = "Two writers at one destination"
TEXT = """\
Two pods publish to one destination: with the same spec, with different ones, an item of a batch
against a single export of the same checkpoint. They go on one call at a time, on files in every
order of the calls for keys that both use (the manifest and the plain names). After each call a
reader follows the manifest: it sees nothing yet, or one whole artifact, never one that was there
before and is gone; each artifact appears once; at the end the plain names are those of the manifest
in force.

Two shares of a batch that end at the same time write `results.json`, `results.csv` and
`index.html` in drawn orders: at the end all three are those of both shares."""
DRAWN = 2000
"""Orders of two shares of a batch, of which there are 3,432 at least."""
DRAWN_IN_A_BUCKET = 100
Play = Callable[[Schedule], None]
Order = tuple[Schedule, str]
"""An order that was played, and what did not hold."""


def run(count: int | None, seed: int) -> Iterable[Row]:
    """Play every order on files, or as many of each case; the others are drawn."""
    with TemporaryDirectory(prefix="writers-") as name, mock.patch.object(os, "fsync"):
        for where, root in files_in(Path(name)):
            yield from on_files(where, root, Path(name), count)
        yield from shares(Path(name), count or DRAWN, seed)
    yield from in_a_bucket(count or DRAWN_IN_A_BUCKET, seed)


def files_in(directory: Path) -> Iterator[tuple[str, str]]:
    """Yield each store over files, and its URI, while that can be used."""
    yield "on a directory", f"file://{directory}/"
    (directory / "claims/models").mkdir(parents=True)
    with mock.patch.dict(os.environ, {CLAIMS_DIR_ENV: f"{directory}/claims"}):
        yield "in a claim", "pvc://models/"


def on_files(where: str, root: str, directory: Path, count: int | None) -> Iterator[Row]:
    """Yield a row for each case on a file system."""
    from chaos.writers import publications

    for case in publications.CASES:
        place = _place(f"{root}{case.replace(' ', '-')}-", directory, case)
        how = "every order" if count is None else "the first orders"
        yield played(f"{case}, {where}", all_orders(place, count), how)


def shares(directory: Path, count: int, seed: int) -> Iterator[Row]:
    """Yield the row of two shares of a batch."""
    from chaos.writers import results

    planned = results.planned_batch(directory)
    orders = drawn(lambda order: results.play(planned, order), count, seed)
    yield played(f"{results.CASE}, on a directory", orders, "drawn orders")


def in_a_bucket(count: int, seed: int) -> Iterator[Row]:
    """Yield a row for each case on a real S3 server."""
    from bed import beds
    from chaos.writers import publications

    with beds.s3_running() as server, TemporaryDirectory(prefix="writers-") as name:
        bucket = server.bucket()
        with _environment(server.environment()):
            for case in publications.CASES:
                root = f"s3://{bucket}/{case.replace(' ', '-')}-"
                place = _place(root, Path(name), case, server.endpoint)
                orders = drawn(place, count, seed)
                yield played(f"{case}, on an S3 server", orders, "drawn orders")


def drawn(play: Play, count: int, seed: int) -> Iterator[Order]:
    """Play orders that are drawn; yield each with how it failed."""
    for number in range(count):
        yield judged(play, Drawn([], draw=random.Random(f"{seed}/{number}")))


def all_orders(play: Play, count: int | None) -> Iterator[Order]:
    """Play every order, or the first ones; yield each with how it failed."""
    given: list[int] | None = []
    numbers = itertools.count() if count is None else range(count)
    for _ in numbers:
        if given is None:
            return
        schedule = Schedule(given)
        yield judged(play, schedule)
        given = schedule.next()


def judged(play: Play, schedule: Schedule) -> Order:
    """Return an order after it was played, and what did not hold."""
    try:
        play(schedule)
    except AssertionError as error:
        return schedule, str(error) or "failed"
    return schedule, ""


def played(what: str, orders: Iterable[Order], how: str) -> Row:
    """Return the row of orders of a case."""
    tried = failed = steps = 0
    for order, failure in orders:
        tried += 1
        steps = max(steps, len(order.taken))
        if failure:
            failed += 1
            print(f"{what}: {failure}", flush=True)
    return Row(
        PART, what, tried, tried - failed, wrong=failed, remarks=f"{how}, of up to {steps} calls"
    )


def _place(root: str, directory: Path, case: str, endpoint: str | None = None) -> Play:
    """Return what plays a case, each order at a destination of its own."""
    from chaos.writers import publications
    from modelexport_api.spec import Storage
    from modelexport_exporter.storage.locate import locate
    from modelexport_exporter.storage.store import Role

    number = 0

    def play(order: Schedule) -> None:
        nonlocal number
        number += 1
        destination = locate(f"{root}{number}/", Storage(endpoint=endpoint), Role.DESTINATION)
        publications.play(destination, directory, case, order)

    return play


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set the variables of an S3 server, and no others of AWS."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    with mock.patch.dict(os.environ, {**kept, **variables}, clear=True):
        yield
