"""docs/operators.md: a row for each operator, written from a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from operators.bench import Result
from operators.known import WHY
from operators.usable import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "operators.md"
_HEAD = """\
# torch's own operators

torch ships a database of its operators with sample inputs (`op_db`). Up to {samples} samples of
each entry in a dtype of real numbers, spread over all that it has, are calls in modules of static
shapes that go through the whole pipeline, up to 24 in one file; where one is not right, each has a
file of its own. The entry draws the values of the verification, and anew those that judge the
published file in a plain onnxruntime session: integers exactly, floating-point numbers within 100
times what eager itself is off. Bare `torch.onnx.export` gets the same calls.

*Right*: Verified, and agrees. *Refused*: nothing was published. *Wrong*: Verified, and differs. Not
counted: calls without a tensor, with complex numbers, of more than 50,000 elements, those that
draw random numbers or return memory as it is, those that eager itself refuses, and those that
return no tensor, none with an element, or NaN alone.

`make operators` writes this page; an interrupted run continues.
"""
_UNUSABLE = frozenset(
    {Outcome.RANDOM, Outcome.NO_TENSOR, Outcome.NO_EAGER, Outcome.NO_ELEMENTS, Outcome.NO_DIM}
)


def render(results: Sequence[Result], samples: int) -> str:
    """Return the page on so many samples of each entry in a dtype."""
    counted = [result for result in results if result.outcome not in _UNUSABLE]
    lines = [
        _HEAD.format(samples=samples),
        *_totals(counted),
        "",
        *_operators(counted),
        "",
        *_left_out(results),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _totals(results: Sequence[Result]) -> Iterator[str]:
    names = ("torch", "onnx", "onnxscript", "onnxruntime", "numpy")
    versions = ", ".join(f"{name} {import_module(name).__version__}" for name in names)
    operators = {name: worst(found) for name, found in _by_name(results).items()}
    dtypes = ", ".join(sorted({result.case.form for result in results}))
    yield f"{len(operators)} operators in {dtypes}, {len(results)} calls; {versions}."
    yield ""
    yield "| outcome | operators | calls | calls with bare `torch.onnx.export` |"
    yield "|---|---|---|---|"
    for outcome in (Outcome.RIGHT, Outcome.REFUSED, Outcome.WRONG):
        found = (
            sum(own is outcome for own in operators.values()),
            sum(result.outcome is outcome for result in results),
            sum(result.bare is outcome for result in results),
        )
        yield f"| {outcome} | {' | '.join(map(str, found))} |"
    yield ""
    yield "An operator is what the worst of its calls is."


def worst(results: Iterable[Result]) -> Outcome:
    """Return wrong before refused before right."""
    outcomes = {result.outcome for result in results}
    order = (Outcome.WRONG, Outcome.REFUSED)
    return next((outcome for outcome in order if outcome in outcomes), Outcome.RIGHT)


def _operators(results: Sequence[Result]) -> Iterator[str]:
    yield "| operator | right | refused | wrong | bare: right · refused · wrong | not right |"
    yield "|---|---|---|---|---|---|"
    for name, found in sorted(_by_name(results).items()):
        ours = Counter(result.outcome for result in found)
        bare = Counter(result.bare for result in found)
        of = (Outcome.RIGHT, Outcome.REFUSED, Outcome.WRONG)
        counts = " | ".join(str(ours[outcome] or "") for outcome in of)
        beside = " · ".join(str(bare[outcome]) for outcome in of)
        yield f"| {name} | {counts} | {beside} | {_reasons(found)} |"


def _reasons(results: Sequence[Result]) -> str:
    """Return `RuntimeFailed: int16 3; a loss of training` for what is not right."""
    counts: Counter[tuple[str, str]] = Counter()
    for result in results:
        if result.outcome is not Outcome.RIGHT:
            reason = result.why.partition(":")[0]
            why = reason if result.outcome is Outcome.REFUSED else "wrong"
            counts[why, result.case.form] += 1
    by_reason: defaultdict[str, list[str]] = defaultdict(list)
    for (why, dtype), count in counts.items():
        by_reason[why].append(f"{dtype} {count}")
    parts = [f"{why}: {', '.join(found)}" for why, found in sorted(by_reason.items())]
    name = next((result.case.name for result in results), "")
    return "; ".join([*parts, *([WHY[name]] if parts and name in WHY else [])])


def _left_out(results: Sequence[Result]) -> Iterator[str]:
    by = _by_name(results)
    for outcome, text in (
        (Outcome.RANDOM, "Draws random numbers, or returns memory as it is"),
        (Outcome.NO_TENSOR, "Returns no tensor of real numbers"),
        (Outcome.NO_EAGER, "Is refused by eager on a CPU"),
        (Outcome.NO_ELEMENTS, "Returns no elements, or NaN alone"),
    ):
        names = [name for name, found in by.items() if all(one.outcome is outcome for one in found)]
        yield f"{text}: {', '.join(f'`{name}`' for name in sorted(names))}."
        yield ""


def _by_name(results: Iterable[Result]) -> Mapping[str, list[Result]]:
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        found[result.case.name].append(result)
    return found
