"""docs/fuzzing.md: written from a run, and read back by the tests that check a part of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from fuzz.bench import Outcome, Result

NETWORKS = "# NNSmith's networks"
PAGE = Path(__file__).parents[2] / "docs" / "fuzzing.md"
_HEAD = """\
# Fuzzing

Random models as users write them: operators, dtypes, sizes in Python arithmetic, branches, tables
and layers in compositions that nobody chose. Each is a file of Python with a manifest, made from
its seed alone, and goes through the whole pipeline. What was published is then compared with eager
PyTorch in a plain onnxruntime session, on sizes and values of the tests' own: integers exactly,
floating-point numbers within 100 times what eager itself is off.

NNSmith's networks are the second part: valid graphs of a public fuzzer of compilers, with its
operators and dtypes, at fixed sizes.

A case is *right* (Verified, and agrees), *refused* (nothing was published), or *wrong* (Verified,
and differs). `make fuzz` writes this page (`CASES` and `SEED` choose a part; an interrupted run
continues); the tests check a part of it again, the nightly tests 5,000 cases.
"""


@dataclass(frozen=True, slots=True)
class Listed:
    """What the page says of a run."""

    first: int
    last: int
    outcomes: dict[Outcome, int]
    seeds: dict[int, str]
    """Cases that are not right: the reason of the refusal, or `wrong`."""


def render(models: Sequence[Result], networks: Sequence[Result]) -> str:
    """Return the page."""
    lines = [_HEAD, *_part(models), NETWORKS, "", *_part(networks)]
    return "\n".join(lines).rstrip() + "\n"


def _part(results: Sequence[Result]) -> Iterator[str]:
    for part in (_totals(results), _routes(results), _refused(results), _wrong(results)):
        yield from (*part, "")


def parse(page: str) -> tuple[Listed, Listed]:
    """Return what a page says of random models, and of NNSmith's networks."""
    models, _, networks = page.partition(f"{NETWORKS}\n")
    return _parse_part(models), _parse_part(networks)


def _parse_part(page: str) -> Listed:
    bounds = re.search(r"Seeds (\d+) to (\d+)", page)
    assert bounds is not None
    outcomes = {
        outcome: int(found[1])
        for outcome in Outcome
        if (found := re.search(rf"^\| {outcome} \| (\d+) \|", page, re.MULTILINE))
    }
    seeds: dict[int, str] = {}
    for reason, listed in re.findall(r"^\| (\w+) \| \d+ \| ([\d, ]+) \|$", page, re.MULTILINE):
        seeds |= {int(seed): reason for seed in listed.split(",")}
    return Listed(int(bounds[1]), int(bounds[2]), outcomes, seeds)


def _totals(results: Sequence[Result]) -> Iterator[str]:
    names = ("torch", "onnx", "onnxscript", "onnxruntime", "numpy")
    versions = ", ".join(f"{name} {import_module(name).__version__}" for name in names)
    yield f"Seeds {results[0].seed} to {results[-1].seed}; {versions}."
    yield ""
    yield "| outcome | cases | share |"
    yield "|---|---|---|"
    for outcome in Outcome:
        count = sum(result.outcome is outcome for result in results)
        yield f"| {outcome} | {count} | {100 * count / len(results):.1f} % |"


def _routes(results: Iterable[Result]) -> Iterator[str]:
    yield "## Routes of right files"
    yield ""
    yield "| route | cases |"
    yield "|---|---|"
    by = _grouped(results, Outcome.RIGHT)
    yield from (f"| {route} | {len(seeds)} |" for route, seeds in by)


def _refused(results: Iterable[Result]) -> Iterator[str]:
    yield "## Refused"
    yield ""
    yield "| reason | cases | seeds |"
    yield "|---|---|---|"
    for reason, seeds in _grouped(results, Outcome.REFUSED):
        yield f"| {reason} | {len(seeds)} | {', '.join(map(str, seeds))} |"


def _wrong(results: Sequence[Result]) -> Iterator[str]:
    yield "## Wrong"
    yield ""
    wrong = [result for result in results if result.outcome is Outcome.WRONG]
    if not wrong:
        yield "None."
        return
    yield "| outcome | cases | seeds |"
    yield "|---|---|---|"
    yield f"| wrong | {len(wrong)} | {', '.join(str(result.seed) for result in wrong)} |"


def _grouped(results: Iterable[Result], outcome: Outcome) -> list[tuple[str, list[int]]]:
    """Return the seeds of an outcome by route or reason, the most frequent first."""
    found: dict[str, list[int]] = defaultdict(list)
    for result in results:
        if result.outcome is outcome:
            found[result.by].append(result.seed)
    return sorted(found.items(), key=lambda entry: (-len(entry[1]), entry[0]))
