"""Results on disk, one line for each seed: a run that was interrupted goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.bench import Outcome, Result, check
from fuzz.case import FuzzCase
from fuzz.generate import generate
from modelexport_api.reasons import Reason


def read_results(path: Path) -> list[Result]:
    """Return the results of a journal, in the order of seeds; a cut line at its end is dropped."""
    if not path.exists():
        return []
    found = {}
    for line in path.read_text().splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[entry["seed"]] = Result(**{**entry, "outcome": Outcome(entry["outcome"])})
    return [found[seed] for seed in sorted(found)]


def run_seeds(
    seeds: Iterable[int],
    journal: Path,
    on_result: Callable[[Result], None] = lambda _result: None,
    make: Callable[[int], FuzzCase] = generate,
) -> list[Result]:
    """Check the seeds that the journal lacks; keep the file of each wrong one beside it."""
    journal.parent.mkdir(parents=True, exist_ok=True)
    wanted = set(seeds)
    done = {result.seed for result in read_results(journal)}
    for seed in sorted(wanted - done):
        case = make(seed)
        with TemporaryDirectory(prefix="fuzz-") as place:
            result = check(case, Path(place))
        if result.by == Reason.INTERRUPTED:
            break  # the seed is left for the next run
        if result.outcome is Outcome.WRONG:
            (journal.parent / f"{journal.stem}_wrong_{seed}.py").write_text(
                f"# {result.text}\n{case.text}"
            )
        with journal.open("a") as file:
            file.write(f"{json.dumps(asdict(result))}\n")
        on_result(result)
    return [result for result in read_results(journal) if result.seed in wanted]
