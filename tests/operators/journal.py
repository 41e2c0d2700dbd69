"""Results on disk, one line for each entry in a dtype: an interrupted run goes on where it was."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from operators.bench import Outcome, Result, check
from operators.entries import Case


def read_results(path: Path) -> dict[Case, list[Result]]:
    """Return the results of a journal by case; a cut line at its end is dropped."""
    found: dict[Case, list[Result]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        case = Case(entry["name"], entry["dtype"])
        found[case] = [
            Result(case, place, Outcome(outcome), why, Outcome(bare))
            for place, outcome, why, bare in entry["calls"]
        ]
    return found


def run_cases(cases: Iterable[Case], journal: Path) -> list[Result]:
    """Check the cases that the journal lacks, and return all results."""
    journal.parent.mkdir(parents=True, exist_ok=True)
    known = read_results(journal)
    results: list[Result] = []
    for case in cases:
        if case not in known:
            started = time.monotonic()
            known[case] = list(check(case))
            _append(journal, case, known[case])
            counts = Counter(result.outcome.value for result in known[case])
            print(f"{case} {dict(counts)} {time.monotonic() - started:.0f} s", flush=True)
        results += known[case]
    return results


def _append(journal: Path, case: Case, results: list[Result]) -> None:
    calls = [
        [result.place, result.outcome.value, result.why, result.bare.value] for result in results
    ]
    with journal.open("a") as file:
        file.write(json.dumps({"name": case.name, "dtype": case.dtype, "calls": calls}) + "\n")
