"""The table of inputs: which sizes and values each one had in the samples. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from modelexport_exporter.report import text
from modelexport_exporter.report.report import Report
from modelexport_exporter.report.report_measured import ReportedInput

MOST_SIZES = 8
"""Of a dim that are listed; of more, the ends."""


@dataclass(frozen=True)
class TriedRow:
    """One input."""

    name: str
    declared: str
    sizes: str
    values: str
    kinds: str


@dataclass(frozen=True)
class Tried:
    """What the samples were."""

    rows: tuple[TriedRow, ...]
    kinds: str
    """Of the values of all inputs; empty where they differ between inputs."""


def tried_of(report: Report) -> Tried:
    """Return a row for each input that the samples had."""
    declared = {str(entry.get("name")): entry for entry in report.spec.get("inputs", [])}
    rows = tuple(_row(entry, declared.get(entry.name, {})) for entry in report.tried)
    kinds = {row.kinds for row in rows}
    return Tried(rows, kinds.pop() if len(kinds) == 1 else "")


def _row(entry: ReportedInput, declared: dict[str, Any]) -> TriedRow:
    return TriedRow(
        name=entry.name,
        declared=_declared(declared),
        sizes="; ".join(_sizes(entry, declared.get("shape", []))) or "the declared ones",
        values=_values(entry),
        kinds=", ".join(entry.kinds),
    )


def _declared(entry: dict[str, Any]) -> str:
    if not entry:
        return "–"
    shape = ", ".join(str(size) for size in entry.get("shape", []))
    words = f"{entry.get('dtype', 'float32')}[{shape}]"
    ends = entry.get("range")
    return f"{words} in {text.plain(ends[0])} to {text.plain(ends[1])}" if ends else words


def _sizes(entry: ReportedInput, declared: Sequence[int | str]) -> Iterator[str]:
    """Yield `batch: 1, 7, 16` for each dim that is not a constant."""
    ranks = {len(shape) for shape in entry.shapes}
    for axis in range(min(ranks, default=0)):
        found = sorted({shape[axis] for shape in entry.shapes})
        known = declared[axis] if axis < len(declared) else f"dim {axis}"
        if isinstance(known, str):
            yield f"{known}: {_listed(found, at_least=entry.more_shapes > 0)}"


def _values(entry: ReportedInput) -> str:
    parts = []
    if entry.low is not None and entry.high is not None:
        same = entry.low == entry.high
        low, high = text.plain(entry.low), text.plain(entry.high)
        parts.append(low if same else f"{low} to {high}")
    if entry.not_finite:
        parts.append(f"NaN or infinity in {text.many(entry.not_finite, 'sample')}")
    return "; ".join(parts) or "no elements"


def _listed(sizes: Sequence[int], *, at_least: bool) -> str:
    if len(sizes) <= MOST_SIZES and not at_least:
        return ", ".join(map(str, sizes))
    return f"{len(sizes)}{' or more' if at_least else ''} sizes from {sizes[0]} to {sizes[-1]}"
