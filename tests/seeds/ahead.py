"""Exports the cases of a run ahead of their tests, in other processes than pytest's.

The pipeline is the product's, whole; it only runs elsewhere, two at a time. A case that cannot be
sent to a process, or comes alone, is exported by its test.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from modelexport_api.pod import PodResult
from seeds.case import Case

PROCESSES = int(os.environ.get("MODELEXPORT_SEEDS_PROCESSES", "2"))
_WORTH_IT = 4
"""Fewer cases than this are exported by their tests: a process takes seconds to import torch."""


@dataclass(frozen=True)
class Answer:
    """What the pipeline answered, and where it published."""

    result: PodResult
    directory: Path
    log: tuple[str, ...]
    seconds: float


class Ahead:
    """The exports of a run, by case."""

    def __init__(self, cases: Sequence[Case], directory: Callable[[str], Path]) -> None:
        """`directory`: makes an empty one for a case."""
        self._futures: dict[str, Future[Answer]] = {}
        self._pool: ProcessPoolExecutor | None = None
        sent = [case for case in cases if _can_be_sent(case)]
        if PROCESSES and len(sent) >= _WORTH_IT:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(PROCESSES, mp_context=context)
            for case in sent:
                self._futures[case.name] = self._pool.submit(_export, case, directory(case.name))

    def answer(self, case: Case) -> Answer | None:
        """Wait for the case and return its result; None if its test exports it."""
        future = self._futures.pop(case.name, None)
        return future.result() if future else None

    def close(self) -> None:
        """Drop what no test asked for."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


def _export(case: Case, directory: Path) -> Answer:
    from seeds.harness import run_pipeline

    return run_pipeline(case, directory)


def _can_be_sent(case: Case) -> bool:
    try:
        pickle.dumps(case)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True
