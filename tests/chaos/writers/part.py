"""Two writers in every order of their calls, on a directory and on a real S3 server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from chaos.journal import Row
from chaos.writers.interleave import Schedule

PART = "writers"
TITLE = "Two writers at one destination"
TEXT = """\
Two pods publish to one destination: with the same spec, with different ones, an item of a batch
against a single export of the same checkpoint. They go on one call at a time, in every order of
the calls for keys that both use (the manifest and the plain names). After each call a reader
follows the manifest: it sees nothing yet, or one whole artifact, never one that was there before
and is gone; each artifact appears once; at the end the plain names are those of the manifest in
force.

Two shares of a batch that end at the same time write `results.json`, `results.csv` and
`index.html` in every order: at the end all three are those of both shares."""
Play = Callable[[Schedule], None]


def run(count: int | None, seed: int) -> Iterable[Row]:
    """Play every order, or as many of each case; `seed` is not used, there is nothing to draw."""
    del seed
    with TemporaryDirectory(prefix="writers-") as name, mock.patch.object(os, "fsync"):
        yield from on_a_directory(Path(name), count)
    yield from in_a_bucket(count)


def on_a_directory(directory: Path, count: int | None) -> Iterator[Row]:
    """Yield a row for each case on a file system."""
    from chaos.writers import publications, results

    for case in publications.CASES:
        place = _place(f"file://{directory}/{case.replace(' ', '-')}-", directory, case)
        yield played(f"{case}, on a directory", place, count)
    planned = results.planned_batch(directory)
    yield played(
        f"{results.CASE}, on a directory", lambda order: results.play(planned, order), count
    )


def in_a_bucket(count: int | None) -> Iterator[Row]:
    """Yield a row for each case on a real S3 server."""
    from bed import beds
    from chaos.writers import publications

    with beds.s3_running() as server, TemporaryDirectory(prefix="writers-") as name:
        bucket = server.bucket()
        with _environment(server.environment()):
            for case in publications.CASES:
                root = f"s3://{bucket}/{case.replace(' ', '-')}-"
                place = _place(root, Path(name), case, server.endpoint)
                yield played(f"{case}, on an S3 server", place, count)


def played(what: str, play: Play, count: int | None) -> Row:
    """Return the row of all orders of a case, or of the first ones."""
    from chaos.writers.interleave import every

    tried, failed, steps = 0, 0, 0

    def count_failures(order: Schedule) -> None:
        nonlocal failed
        try:
            play(order)
        except AssertionError as error:
            failed += 1
            print(f"{what}: {error}", flush=True)

    for order in islice(every(count_failures), count):
        tried += 1
        steps = max(steps, len(order.taken))
    remarks = f"every order of up to {steps} calls" if count is None else "the first orders"
    return Row(PART, what, tried, tried - failed, wrong=failed, remarks=remarks)


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
