"""The table of the coverage, `docs/coverage.md`: written from a run, and read back to check one.

The cases are the data; rows and totals are computed from them, so the page cannot disagree with
itself. Error digits are left out: they differ from machine to machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from modelexport_exporter.torch_internals.translation import OLDEST_OPSET
from seeds.recording import Finding, Outcome
from seeds.rows import ROWS

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
_CASES = "## Cases"
_NIGHTLY = "nightly"
_FREE = "free"
_BY_TORCHSCRIPT = ("Script", "Trace")
_HEAD = """\
# Coverage

The result for each operator, model, workflow, pitfall and API that the documentation of three
generations of torch.onnx names: exported by the whole pipeline, then compared with eager PyTorch at
sizes and values that neither the export nor its verification used. *Right*: published, and the
comparison agrees. *Refused*: failed with a reason and a hint. *Wrong*: published, and the
comparison does not agree.

`make coverage` writes this page; the tests fail if their results differ from it.
"""


def render(findings: Iterable[Finding]) -> str:
    """Return the page."""
    cases = sorted(findings, key=_order)
    parts = [_totals(cases), _rows(cases), _families(cases), _list(cases)]
    return "\n".join([_HEAD, *(line for part in parts if part for line in (*part, ""))])


def parse(page: str) -> dict[str, Finding]:
    """Return the findings that a page lists, by case."""
    _, _, text = page.partition(_CASES)
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    found = {}
    for case, rows, outcome, by, pinned, when in lines[1:]:
        name = case.strip("`")
        ids = () if rows == "–" else tuple(rows.split(", "))
        free = "" if pinned == _FREE else pinned
        found[name] = Finding(ids, name, Outcome(outcome), by, when == _NIGHTLY, free)
    return found


def _order(finding: Finding) -> tuple[int, str]:
    """Sort by the first row, then by name; cases of no row come last."""
    positions = {row: position for position, row in enumerate(ROWS)}
    first = min((positions[row] for row in finding.rows), default=len(positions))
    return first, finding.case


def _totals(cases: list[Finding]) -> list[str]:
    outcomes = Counter(case.outcome for case in cases)
    covered = {row for case in cases for row in case.rows}
    return [
        f"{len(cases)} cases: {outcomes[Outcome.RIGHT]} right, "
        f"{outcomes[Outcome.REFUSED]} refused by name, {outcomes[Outcome.WRONG]} wrong; "
        f"{len(covered)} of {len(ROWS)} rows.",
        "",
        _torchscript(cases),
    ]


def _torchscript(cases: list[Finding]) -> str:
    """Return how many cases need the TorchScript route, and how many only ask for it."""
    pins = [case.pinned for case in cases if case.by in _BY_TORCHSCRIPT]
    needed = pins.count("")
    old = sum(pin.startswith("opset") for pin in pins)
    return (
        f"{needed} cases need the TorchScript route: they do not pin it, and fail without it.\n"
        f"{old} more ask for an opset below {OLDEST_OPSET}, for which it is tried first, and "
        f"{len(pins) - needed - old} pin it."
    )


def _rows(cases: list[Finding]) -> list[str]:
    lines = ["| row | what | right | refused | wrong |", "|---|---|---|---|---|"]
    for row, title in ROWS.items():
        own = [case for case in cases if row in case.rows]
        cells = [_by(own, outcome) for outcome in Outcome]
        lines.append(f"| {row} | {title} | {' | '.join(cells)} |")
    return lines


def _families(cases: list[Finding]) -> list[str]:
    """Return real models, which belong to no row: `library_architecture`."""
    models = [case for case in cases if not case.rows]
    if not models:
        return []
    right = sum(case.outcome is Outcome.RIGHT for case in models)
    return [
        "## Families of real models",
        "",
        f"{right} of {len(models)} are right, with a free batch (and sequence). "
        "`make coverage-nightly` exports them again.",
        "",
        "| library | model | outcome | route or reason |",
        "|---|---|---|---|",
        *(
            f"| {library} | {model} | {case.outcome} | {case.by} |"
            for case in models
            for library, _, model in [case.case.partition("_")]
        ),
    ]


def _by(cases: list[Finding], outcome: Outcome) -> str:
    """Return `3: Dynamo 2, Script 1`."""
    ways = Counter(case.by for case in cases if case.outcome is outcome)
    if not ways:
        return ""
    listed = ", ".join(f"{way} {count}" for way, count in sorted(ways.items()))
    return f"{ways.total()}: {listed}"


def _list(cases: list[Finding]) -> list[str]:
    head = [
        _CASES,
        "",
        "| case | rows | outcome | route or reason | asks for | when |",
        "|---|---|---|---|---|---|",
    ]
    return [*head, *(_line(case) for case in cases)]


def _line(case: Finding) -> str:
    when = _NIGHTLY if case.nightly else "always"
    rows = ", ".join(case.rows) or "–"
    pinned = case.pinned or _FREE
    return f"| `{case.case}` | {rows} | {case.outcome} | {case.by} | {pinned} | {when} |"
