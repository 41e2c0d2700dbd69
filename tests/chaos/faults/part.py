"""The part `faults` of `make chaos`: every fault at every kind of request of an export."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from chaos.draw import drawn
from chaos.journal import Row

if TYPE_CHECKING:
    from chaos.faults.judge import Verdict
    from chaos.faults.proxy import Proxy
    from chaos.faults.runs import Bench

TITLE = "Faults of the store"
TEXT = """\
A proxy stands between an export run and a real S3 server, and applies one fault: at one request
of a run, or at it and all of its kind that follow. The requests are those of a whole run: a
checkpoint of shards is fetched, an artifact replaces an earlier one, what is old is deleted. Each
fault meets each kind of request that it can meet.

A case held if a fault that passes ends right, and one that stays ends with a reason that says
whether another run can help; if a reader of the manifest has the earlier or the new artifact,
whole, at any time; and if the next run, without the fault, publishes the right artifact and
leaves nothing behind. Timeouts and waits are shortened, and count in full.
"""


@contextmanager
def ready() -> Iterator[tuple[Bench, Proxy]]:
    """Yield a bench and its proxy, after a first run without a fault."""
    from bed import beds
    from chaos.faults.proxy import proxying
    from chaos.faults.runs import Bench

    with (
        beds.s3_running() as server,
        proxying(server.endpoint) as proxy,
        tempfile.TemporaryDirectory() as directory,
    ):
        os.environ.update(server.environment())
        bench = Bench(server, server.bucket(), Path(directory))
        proxy.read = bench.stored
        yield bench, proxy


def run(count: int | None, seed: int) -> Iterable[Row]:
    """Apply `count` cases, or all; yield a row for each fault."""
    from chaos.faults.cases import all_cases
    from chaos.faults.judge import judge
    from chaos.faults.runs import PATIENT_SECONDS

    with ready() as (bench, proxy):
        for number in range(2):
            bench.put_checkpoint(seed + number)
            proxy.seen.clear()
            bench.run(proxy.endpoint, PATIENT_SECONDS)
        cases = drawn(all_cases(proxy.seen, seed), count, seed)
        number = seed + 2
        for name, group in groupby(cases, key=lambda case: case.rule.name):
            verdicts = []
            for case in group:
                number += 1
                verdicts.append(judge(case, bench, proxy, number))
                if not verdicts[-1].held:
                    print(verdicts[-1], file=sys.stderr, flush=True)
            yield row(name, verdicts)


def row(name: str, verdicts: Sequence[Verdict]) -> Row:
    """Count the verdicts of a fault."""
    slowest = max(verdict.seconds for verdict in verdicts)
    ended = sum(verdict.ended == "Succeeded" for verdict in verdicts)
    return Row(
        "faults",
        name,
        tried=len(verdicts),
        held=sum(verdict.held for verdict in verdicts),
        lost=sum(bool(verdict.lost) for verdict in verdicts),
        wrong=sum(bool(verdict.wrong) for verdict in verdicts),
        leaked=sum(bool(verdict.leaked) for verdict in verdicts),
        remarks=f"{ended} ended right, the others typed; {slowest:.0f} s at most",
    )
