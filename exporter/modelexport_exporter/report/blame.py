"""The section on the node to blame for a mismatch. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from modelexport_exporter.report import text
from modelexport_exporter.report.report import Report, ReportedBlame


@dataclass(frozen=True)
class Term:
    """A known property of the node."""

    label: str
    value: str
    is_code: bool = True


@dataclass(frozen=True)
class Culprit:
    """The section on the first node that differs."""

    lead: str
    terms: tuple[Term, ...]
    among: tuple[str, ...]
    repro: tuple[str, ...]
    without: str
    """Why there is no repro, or no node."""


def culprit_of(report: Report) -> Culprit | None:
    """Return the section, or None where nothing was searched for."""
    blame = report.blame
    if blame is None:
        return None
    return Culprit(
        lead=_lead(blame),
        terms=tuple(_terms(blame)),
        among=tuple(blame.among) if len(blame.among) > 1 else (),
        repro=tuple(blame.repro),
        without=blame.no_repro or blame.why_not,
    )


def _lead(blame: ReportedBlame) -> str:
    if not blame.node:
        if blame.optimization:
            return (
                f"The file itself matches; it differs only after onnxruntime's "
                f"{blame.optimization} graph optimizations."
            )
        return "No single node could be named."
    first = "This is the first node whose result differs from eager PyTorch."
    if blame.proven:
        return f"{first} With eager's value in its place, the rest of the file matches."
    return f"{first} It is the likely cause; this could not be proven."


def _terms(blame: ReportedBlame) -> list[Term]:
    after = "" if blame.error_after is None else text.number(blame.error_after)
    before = "" if blame.error_before is None else text.number(blame.error_before)
    terms = [
        Term("Node", f"{blame.op} {blame.node}".strip()),
        Term("Source", blame.source),
        Term("Module", blame.module),
        Term("Computes", blame.aten),
        Term("Translated by the plugin", blame.plugin),
        Term("Relative error of its inputs", before, is_code=False),
        Term("Relative error of its output", after, is_code=False),
    ]
    if blame.node and blame.optimization:
        only = f"only after onnxruntime's {blame.optimization} graph optimizations"
        terms.append(Term("Seen", only, is_code=False))
    return [term for term in terms if term.value]
