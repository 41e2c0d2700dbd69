"""docs/operators.md: a row for each operator in float32; a page beside it for each other form."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from operators.known import WHY
from operators.results import Outcome, Result

PAGE = Path(__file__).parents[2] / "docs" / "operators.md"
FIRST = "float32"
"""The form that docs/operators.md is about."""
_HEAD = """\
# torch's own operators{title}

torch ships a database of its operators with sample inputs (`op_db`). Up to {samples} samples of
each entry in a dtype, spread over all that it has, are calls in modules that go through the whole
pipeline, up to 24 in one file; where one is not right, each has a file of its own. The entry draws
the values of the verification, and anew those that judge the published file in a plain onnxruntime
session: integers exactly, floating-point numbers within 100 times what eager itself is off. Bare
`torch.onnx.export` gets the same calls. Complex numbers are passed and returned as their parts.

*Static*: every shape is fixed. *Dynamic*: a dim of the call's first tensor has two or three sizes
that eager takes, with the other tensors' dims of that size if eager wants them to.

*Right*: Verified, and agrees. *Refused*: nothing was published. *Wrong*: Verified, and differs. Not
counted: calls without a tensor, of more than 50,000 elements, those that draw random numbers or
return memory as it is, those that eager itself refuses, those that return no tensor, none with an
element, or NaN alone, and dynamic calls of which no dim can have another size.

`make operators` writes this page; an interrupted run continues.
{others}"""
_UNUSABLE = frozenset(
    {Outcome.RANDOM, Outcome.NO_TENSOR, Outcome.NO_EAGER, Outcome.NO_ELEMENTS, Outcome.NO_DIM}
)


def page_of(form: str) -> Path:
    """Return the page of a form of calls: `float32`, `float32 dynamic`, `int64`."""
    return PAGE if form == FIRST else PAGE.with_name(f"operators-{form.replace(' ', '-')}.md")


def write_pages(results: Sequence[Result], samples: int) -> None:
    """Write the page of each form of calls that was run; the first page links to the others."""
    by_form: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_form[result.case.form].append(result)
    for form in sorted(by_form, key=lambda form: form == FIRST):
        page_of(form).write_text(render(by_form[form], samples))


def render(results: Sequence[Result], samples: int) -> str:
    """Return the page on so many samples of each entry, all of one form."""
    form = results[0].case.form
    counted = [result for result in results if result.outcome not in _UNUSABLE]
    lines = [
        _HEAD.format(
            title="" if form == FIRST else f": {form}",
            samples=samples,
            others=_others() if form == FIRST else "",
        ),
        *_totals(counted),
        "",
        *_operators(counted),
        "",
        *_left_out(results),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _others() -> str:
    """Return a line with links to the pages of other forms."""
    pages = sorted(PAGE.parent.glob("operators-*.md"))
    links = [f"[{page.stem.partition('-')[2].replace('-', ' ')}]({page.name})" for page in pages]
    return f"\nThis page is about float32; others: {', '.join(links)}.\n" if links else ""


def _totals(results: Sequence[Result]) -> Iterator[str]:
    names = ("torch", "onnx", "onnxscript", "onnxruntime", "numpy")
    versions = ", ".join(f"{name} {import_module(name).__version__}" for name in names)
    operators = {name: worst(found) for name, found in _by_name(results).items()}
    form = results[0].case.form if results else "no dtype"
    yield f"{len(operators)} operators in {form}, {len(results)} calls; {versions}."
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
        (Outcome.NO_TENSOR, "Returns no tensor"),
        (Outcome.NO_EAGER, "Is refused by eager on a CPU"),
        (Outcome.NO_ELEMENTS, "Returns no elements, or NaN alone"),
        (Outcome.NO_DIM, "Takes no other size"),
    ):
        names = [name for name, found in by.items() if all(one.outcome is outcome for one in found)]
        if names:
            yield f"{text}: {', '.join(f'`{name}`' for name in sorted(names))}."
            yield ""


def _by_name(results: Iterable[Result]) -> Mapping[str, list[Result]]:
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        found[result.case.name].append(result)
    return found
