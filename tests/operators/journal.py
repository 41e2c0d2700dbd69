"""Results on disk, one line for each entry in a dtype: an interrupted run goes on where it was."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from operators.bench import check
from operators.entries import spread
from operators.results import Case, Outcome, Result

TOGETHER = 8
"""Cases that are written into the journal together."""


def read_results(path: Path) -> dict[Case, list[Result]]:
    """Return the results of a journal by case; a cut line at its end is dropped."""
    found: dict[Case, list[Result]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        case = Case(entry["name"], entry["dtype"], entry.get("dynamic", False))
        found[case] = [
            Result(case, place, Outcome(outcome), why, Outcome(bare))
            for place, outcome, why, bare in entry["calls"]
        ]
    return found


def run_cases(cases: Sequence[Case], journal: Path, samples: int) -> list[Result]:
    """Check the cases that the journal lacks, and return the results of so many samples of each."""
    journal.parent.mkdir(parents=True, exist_ok=True)
    known = read_results(journal)
    for some in _batches([case for case in cases if case not in known]):
        started = time.monotonic()
        found: dict[Case, list[Result]] = {case: [] for case in some}
        for result in check(some, samples):
            found[result.case].append(result)
        for case, results in found.items():
            known[case] = results
            _append(journal, case, results)
            print(f"{case} {dict(Counter(result.outcome.value for result in results))}")
        print(f"{time.monotonic() - started:.0f} s", flush=True)
    return [result for case in cases for result in spread(_in_order(known[case]), samples)]


def _in_order(results: Sequence[Result]) -> list[Result]:
    return sorted(results, key=lambda result: result.place)


def _batches(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    """Yield cases that share files: some of one dtype, with or without dynamic dims."""
    by_form: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_form[case.form].append(case)
    for own in by_form.values():
        yield from (own[at : at + TOGETHER] for at in range(0, len(own), TOGETHER))


def _append(journal: Path, case: Case, results: list[Result]) -> None:
    calls = [
        [result.place, result.outcome.value, result.why, result.bare.value] for result in results
    ]
    with journal.open("a") as file:
        file.write(json.dumps({**asdict(case), "calls": calls}) + "\n")
