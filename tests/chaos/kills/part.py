"""The part of the suite: runs the cases, keeps what was run, and counts by kind of kill."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from chaos.journal import JOURNALS, Row
from chaos.kills.cases import KINDS, Case, draw
from chaos.kills.study import Outcome, Rehearsal, Study
from chaos.kills.workload import REAL

TITLE = "Processes killed"
TEXT = """\
A small network (1.5 MB) is exported alone, and as a batch of three checkpoints, by the pod's entry
point on an S3 server. A process is killed at an instant of its life that a seed draws, at a change
of the stage, or just before and just after each write to the store. In one case of three an earlier
artifact is at the destination.

Before, while and after, a reader lists the bucket without a pause, follows each `manifest.json` and
compares the digests of all files. Then the same pod runs again, as the Job's next attempt. It has
to end *Verified*, with the artifact of its checkpoint; what was published before the kill has to
stay as it is. No process of the killed pod may run 5 s later. After the next run, its work
directory is empty, nothing is left among temporary files, no upload is open, and the bucket has the
manifest, the files that it names, and
[contents of earlier runs](adr/0018-files-under-names-of-their-content.md) only, which a run an hour
later deletes.

`make chaos PART=kills` runs the 200 cases of seed 0 (`COUNT` and `SEED` choose others); an
interrupted run continues. The table has those that have run, in their order. In five cases of six
the killed run is the fork of a process that has imported torch, which takes most of a run's time,
and the next one runs in the process of the test; in the sixth both are executed. `looks` are those
of the reader, seconds those of a machine that did much else.
"""
_COUNT = 200
_PREFIX = "kills.cases"


def run(count: int | None, seed: int) -> Iterable[Row]:
    """Kill so many times; what an interrupted run did is not done again."""
    from bed import beds
    from chaos.kills.zygote import Zygote
    from modelexport_exporter.isolation.server import start_server

    start_server(["warm_workers"])
    path = JOURNALS / f"{_PREFIX}.{seed}.jsonl"
    known = _known(path)
    with beds.s3_running() as server, closing(Zygote.start()) as zygote:
        os.environ.update(server.environment())
        study = Study(server, REAL, zygote=zygote)
        cases = [case for case in draw(count or _COUNT, seed) if case.number not in known]
        JOURNALS.mkdir(parents=True, exist_ok=True)
        with path.open("a") as journal:
            for outcome in run_cases(study, cases):
                known[outcome.number] = outcome
                journal.write(json.dumps(asdict(outcome)) + "\n")
                journal.flush()
                print(_line(outcome), flush=True)
    yield from rows([*known.values()])


def _known(path: Path) -> dict[int, Outcome]:
    if not path.exists():
        return {}
    outcomes = [Outcome(**json.loads(line)) for line in path.read_text().splitlines()]
    return {outcome.number: outcome for outcome in outcomes}


def run_cases(study: Study, cases: Iterable[Case]) -> Iterator[Outcome]:
    """Yield how each case ended; a run without a kill goes before the first one of its form."""
    rehearsals: dict[tuple[bool, bool], Rehearsal] = {}
    for case in cases:
        form = case.kind.batch, case.cold
        if form not in rehearsals:
            rehearsals[form] = study.rehearse(batch=case.kind.batch, cold=case.cold)
            print(f"without a kill: {rehearsals[form]}", flush=True)
        yield study.run(case, rehearsals[form])


def rows(outcomes: Sequence[Outcome]) -> Iterator[Row]:
    """Count the cases of each kind that hit something."""
    for kind in map(str, KINDS):
        tried = [one for one in outcomes if one.kind == kind and one.killed_at is not None]
        count = _counter(tried)
        if tried:
            seconds = sorted(one.killed_at or 0.0 for one in tried)
            yield Row(
                part="kills",
                what=kind,
                tried=len(tried),
                held=sum(one.held for one in tried),
                lost=count(lambda one: one.lost),
                doubled=count(lambda one: one.doubled),
                wrong=count(lambda one: one.wrong),
                leaked=count(lambda one: one.leaked),
                remarks=f"{_range(seconds)} s after the start, "
                f"{sum(one.looks for one in tried):,} looks",
            )


def _range(seconds: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(f"{one:.1f}" for one in (seconds[0], seconds[-1])))


def _counter(tried: Sequence[Outcome]) -> Callable[[Callable[[Outcome], list[str]]], int]:
    return lambda broken: sum(bool(broken(one)) for one in tried)


def _line(outcome: Outcome) -> str:
    if outcome.killed_at is None:
        return f"{outcome.number} {outcome.kind}: missed"
    broken = [*outcome.lost, *outcome.doubled, *outcome.wrong, *outcome.leaked]
    how = f"BROKEN {broken}" if broken else "held"
    return f"{outcome.number} {outcome.kind}, {outcome.killed_at:.2f} s, {outcome.stage}: {how}"
