"""Runs the studies of many subjects in processes of their own, forked with torch imported."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from modelexport_exporter.core.entry_points import PRELOAD
from mutants.mutations import Mutant
from mutants.plan import plan
from mutants.study import Report, count_mutants, survey

PROCESSES = 2


@contextmanager
def processes(count: int = PROCESSES) -> Iterator[ProcessPoolExecutor]:
    """Give a pool whose processes do one thing each: exporters leave a process changed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOAD])
    pool = ProcessPoolExecutor(count, mp_context=context, max_tasks_per_child=1)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def full_run(names: Sequence[str], each: int, on_report: Callable[[Report], None]) -> list[Report]:
    """Return the reports of subjects, in order; `each`: mutants of a subject that have to count."""
    with TemporaryDirectory(prefix="mutants-") as place, processes() as pool:
        directories = [Path(place) / name for name in names]
        surveys: dict[str, dict[str, list[Mutant]]] = dict(
            zip(names, pool.map(survey, names, directories), strict=True)
        )
        queues = plan(surveys)
        futures: list[Future[Any]] = [
            pool.submit(count_mutants, name, directory, queues[name], each)
            for name, directory in zip(names, directories, strict=True)
        ]
        for future in as_completed(futures):
            on_report(future.result())
        return [future.result() for future in futures]
