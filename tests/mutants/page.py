"""docs/mutants.md: written from a full run, and read back by the tests that check a part of it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from modelexport_exporter.verification.numerics.tolerance import MULTIPLE
from mutants.mutations import OPERATORS
from mutants.study import Finding, Report

PAGE = Path(__file__).parents[2] / "docs" / "mutants.md"
_MUTANTS = "## Mutants"
_RARE = 0.02
_CAUGHT, _MISSED = "caught", "missed"
_ABOVE, _WITHIN = "above", "within"
_SHOWS_WHERE = {
    "strictness": "a value is equal to a threshold",
    "last_of_ties": "two values are equal",
    "half_away_from_zero": "a value lies half-way between two steps",
    "zeroed_row": "this row is looked up",
    "nan_unseen": "a value is NaN or infinite",
    "limits_for_nan": "a value is NaN",
}
"""What makes some damage rare."""
_HEAD = """\
# Mutants

How far the verdict can be trusted, measured: exported files of models that verify are damaged with
the errors that exporters make, and then verified. A mutant counts if it runs on the export's inputs
and, somewhere within the declared ranges, an output differs from that of the undamaged file by more
than the model's own noise (eager PyTorch compared with the same model in float64 and with random
rounding). The tests decide this on inputs of their own, by rules that share nothing with the
verification's samples. Mutants that compute the same result are replaced by others.

A correct file has an error, too: up to eight times the noise, or a floor ([verdict](verdict.md)).
Mutants with a smaller error count, although nothing can distinguish them from correct files.

*Ours* is everything between writing a file and publishing it: contract, ONNX checker, verdict.
*Optimum* is its `validate_model_outputs` on one set of inputs at the export's sizes; *verify=True*
is what `torch.onnx.export(verify=True)` warns about.

`make mutants` writes this page; the tests check a part of it again, the nightly tests all of it.
"""


@dataclass(frozen=True)
class Listed:
    """A mutant as the page lists it."""

    subject: str
    operator: str
    where: str
    caught: bool
    tellable: bool
    """Whether it errs more than a right file may."""


def render(reports: Sequence[Report]) -> str:
    """Return the page."""
    findings = [finding for report in reports for finding in report.findings]
    parts = (
        _totals(reports, findings),
        _survivors(findings),
        _operators(findings),
        _list(findings),
    )
    return "\n".join([_HEAD, *(line for part in parts for line in (*part, ""))])


def parse(page: str) -> list[Listed]:
    """Return the mutants that a page lists."""
    _, _, text = page.partition(_MUTANTS)
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [
        Listed(row[0], row[1], row[2].strip("`"), row[6] == _CAUGHT, row[4] == _ABOVE)
        for row in rows[1:]
    ]


def _totals(reports: Sequence[Report], findings: Sequence[Finding]) -> Iterator[str]:
    wholes = [whole for report in reports for whole in report.wholes if whole.mutant is None]
    controls = [whole for report in reports for whole in report.wholes if whole.mutant]
    yield "| | ours | Optimum | verify=True |"
    yield "|---|---|---|---|"
    yield f"| {len(findings)} mutants: caught | {' | '.join(_shares(findings))} |"
    told = [finding for finding in findings if errs_more_than_a_right_file_may(finding)]
    title = "of them with a larger error than a correct file may have"
    yield f"| {len(told)} {title} | {' | '.join(_shares(told))} |"
    for title, some in (("undamaged files", wholes), ("unchanged copies", controls)):
        counts = (
            sum(whole.ours.refused for whole in some),
            sum(whole.optimum.refused for whole in some),
            sum(whole.verify_true.refused for whole in some),
        )
        yield f"| {len(some)} {title}: refused | {' | '.join(map(str, counts))} |"
    yield ""
    yield (
        f"{len(reports)} models, {len({finding.mutant.operator for finding in findings})} of "
        f"{len(OPERATORS) - 1} operators; {sum(report.equivalent for report in reports)} more "
        "mutants compute the same within the noise, or do not run."
    )


def _shares(findings: Sequence[Finding]) -> Iterator[str]:
    total = max(len(findings), 1)
    for count in _counts(findings):
        yield f"{count} ({100 * count / total:.1f} %)"


def _counts(findings: Sequence[Finding]) -> tuple[int, int, int]:
    return (
        sum(finding.ours.refused for finding in findings),
        sum(finding.optimum.refused for finding in findings),
        sum(finding.verify_true.refused for finding in findings),
    )


def _survivors(findings: Iterable[Finding]) -> Iterator[str]:
    missed = [finding for finding in findings if not finding.ours.refused]
    yield "## Survivors"
    yield ""
    if not missed:
        yield "None."
        return
    yield "| model | mutant | times the noise | error | shows at | why |"
    yield "|---|---|---|---|---|---|"
    for finding in missed:
        found = finding.change
        yield (
            f"| {finding.subject} | `{finding.mutant.name}` | {_number(found.excess)} | "
            f"{found.error:.1e} | {100 * found.shows:.1f} % of inputs, {found.where} | "
            f"{_why(finding)} |"
        )


def _why(finding: Finding) -> str:
    if not errs_more_than_a_right_file_may(finding):
        return f"within {MULTIPLE:g} times the noise or the floor, which correct files may have"
    known = _SHOWS_WHERE.get(finding.mutant.operator)
    if known:
        return f"shows only where {known}"
    rare = "rare" if finding.change.shows <= _RARE else "not rare"
    return f"{rare}, and no sample reaches it"


def errs_more_than_a_right_file_may(finding: Finding) -> bool:
    """Tell whether a mutant errs more than a right file may, so that a verdict can know."""
    return finding.change.excess > MULTIPLE and finding.change.beyond > 1


def _operators(findings: Sequence[Finding]) -> Iterator[str]:
    yield "## Operators"
    yield ""
    yield "| operator | what it imitates | mutants | ours | Optimum | verify=True |"
    yield "|---|---|---|---|---|---|"
    for name, find in sorted(OPERATORS.items()):
        own = [finding for finding in findings if finding.mutant.operator == name]
        if own:
            counts = " | ".join(map(str, _counts(own)))
            yield f"| {name} | {_what(find)} | {len(own)} | {counts} |"


def _what(find: object) -> str:
    text = inspect.getdoc(find) or ""
    return " ".join(text.split()).replace("|", "or")


def _list(findings: Iterable[Finding]) -> Iterator[str]:
    yield _MUTANTS
    yield ""
    head = (
        "model",
        "operator",
        "where",
        "times the noise",
        "limit of a correct file",
        "shows at",
    )
    yield f"| {' | '.join((*head, 'ours', 'Optimum', 'verify=True'))} |"
    yield f"|{'---|' * 9}"
    for finding in findings:
        said = (finding.ours, finding.optimum, finding.verify_true)
        opinions = " | ".join(_CAUGHT if opinion.refused else _MISSED for opinion in said)
        level = _ABOVE if errs_more_than_a_right_file_may(finding) else _WITHIN
        yield (
            f"| {finding.subject} | {finding.mutant.operator} | `{finding.mutant.where}` | "
            f"{_number(finding.change.excess)} | {level} | {100 * finding.change.shows:.0f} % | "
            f"{opinions} |"
        )


def _number(excess: float) -> str:
    return "∞" if np.isinf(excess) else f"{excess:.2g}"
