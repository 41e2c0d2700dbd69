"""Errors against limits: one row an output, one row a sample, and the numbers behind them: pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from modelexport_exporter.core.comparison import limit_share
from modelexport_exporter.report import text
from modelexport_exporter.report.plots import (
    Axis,
    Point,
    Shape,
    Strip,
    axis_of,
    strip,
)
from modelexport_exporter.report.report import ComparedOutput, ComparedSample, Report

AT_ONCE = 14
"""Rows shown without a click; of more, those closest to their limit."""
MOST_ROWS = 256
"""Of a plot; the others are in report.json alone."""
MOST_POINTS = 240
"""Of a row."""
MOST_NUMBERS = 1500
"""Rows of the table of numbers."""


@dataclass(frozen=True)
class ErrorRow:
    """One output, or one sample."""

    name: str
    share: str
    """`1/247 of the limit`, or what differs."""
    worst: str
    agrees: bool
    strip: Strip


@dataclass(frozen=True)
class ErrorPlot:
    """A table whose last column is drawn."""

    axis: Axis
    rows: tuple[ErrorRow, ...]
    hidden: tuple[ErrorRow, ...]
    """Those behind a summary."""
    left_out: int


@dataclass(frozen=True)
class NumberRow:
    """One output of one sample in numbers."""

    sample: str
    output: str
    max_abs_error: str
    max_rel_error: str
    limit: str
    noise: str
    answer: str
    agrees: bool


@dataclass(frozen=True)
class Errors:
    """The section on errors."""

    by_output: ErrorPlot
    by_sample: ErrorPlot
    numbers: tuple[NumberRow, ...]
    numbers_left_out: int
    left_out: tuple[str, ...]
    coverage: tuple[str, ...]
    """What the samples covered: sizes, branches, ranges that were searched for."""
    not_compared: tuple[str, ...]
    with_noise: bool
    with_differing: bool
    with_inconclusive: bool


@dataclass(frozen=True)
class _Pair:
    """One output of one sample."""

    sample: str
    output: str
    found: ComparedOutput

    @property
    def ratio(self) -> float:
        """Return the error as a share of the limit; infinite for what no tolerance covers."""
        return ratio_of(self.found)

    @property
    def shape(self) -> Shape:
        if self.found.problem:
            return Shape.DIFFERS
        return Shape.INCONCLUSIVE if self.found.inconclusive else Shape.AGREES


def ratio_of(found: ComparedOutput) -> float:
    """Return the error as a share of the limit; infinite for what no tolerance covers."""
    return limit_share(float(found.max_abs_error), float(found.limit), wrong=bool(found.problem))


def errors_of(report: Report) -> Errors | None:
    """Return the section, or None where nothing was compared."""
    pairs = [
        _Pair(describe(sample), output.output, output)
        for sample in report.samples
        for output in sample.outputs
    ]
    if not pairs:
        return None
    axis = axis_of(pair.ratio for pair in pairs)
    ordered = sorted(pairs, key=_severity)
    return Errors(
        by_output=_plot(axis, pairs, lambda pair: pair.output, lambda pair: pair.sample, AT_ONCE),
        by_sample=_plot(axis, pairs, lambda pair: pair.sample, lambda pair: pair.output, AT_ONCE),
        numbers=tuple(_numbers(pair) for pair in ordered[:MOST_NUMBERS]),
        numbers_left_out=max(0, len(pairs) - MOST_NUMBERS),
        left_out=tuple(report.left_out),
        coverage=tuple(report.verification.coverage) if report.verification else (),
        not_compared=tuple(report.verification.not_compared) if report.verification else (),
        with_noise=any(_noise_share(pair.found) for pair in pairs),
        with_differing=any(pair.found.problem for pair in pairs),
        with_inconclusive=any(pair.shape is Shape.INCONCLUSIVE for pair in pairs),
    )


def describe(sample: ComparedSample) -> str:
    """Return `batch=3 · zeros values · seed 0`: what identifies a sample."""
    return f"{text.dims(sample.dims)} · {sample.values} values · seed {sample.seed}"


def _plot(
    axis: Axis,
    pairs: Sequence[_Pair],
    row_of: Callable[[_Pair], str],
    point_of: Callable[[_Pair], str],
    at_once: int,
) -> ErrorPlot:
    members: dict[str, list[_Pair]] = {}
    for pair in pairs:
        members.setdefault(row_of(pair), []).append(pair)
    names = list(members)
    if len(names) > at_once:
        names.sort(key=lambda name: min(map(_severity, members[name])))
    rows = [_row(axis, name, members[name], point_of) for name in names[:MOST_ROWS]]
    return ErrorPlot(
        axis=axis,
        rows=tuple(rows[:at_once]),
        hidden=tuple(rows[at_once:]),
        left_out=max(0, len(names) - MOST_ROWS),
    )


def _severity(pair: _Pair) -> tuple[bool, float]:
    """Return a sort key: what differs first, then what is closest to its limit."""
    return not pair.found.problem, -pair.ratio


def _row(
    axis: Axis, name: str, members: Sequence[_Pair], point_of: Callable[[_Pair], str]
) -> ErrorRow:
    worst = min(members, key=_severity)
    differing = sum(1 for member in members if member.found.problem)
    agrees = differing == 0
    share = text.of_limit(worst.ratio) if agrees else f"{differing} of {len(members)} differ"
    numbers = f"{text.number(worst.found.max_abs_error)} of {text.number(worst.found.limit)}"
    shown = sorted(members, key=_severity)[:MOST_POINTS] if len(members) > MOST_POINTS else members
    points = [
        Point(
            member.ratio,
            member.shape,
            f"{point_of(member)}: {_sentence(member.found)}",
            _noise_share(member.found),
        )
        for member in shown
    ]
    title = f"{name}: {share}"
    description = (
        f"{text.many(len(members), 'comparison')}, {differing} beyond the limit; the worst is off "
        f"by {numbers} allowed."
    )
    return ErrorRow(name, share, numbers, agrees, strip(axis, points, title, description))


def _sentence(found: ComparedOutput) -> str:
    text_ = found.problem or found.inconclusive
    numbers = f"{text.number(found.max_abs_error)} of {text.number(found.limit)} allowed"
    return f"{text_} ({numbers})" if text_ else numbers


def _numbers(pair: _Pair) -> NumberRow:
    found = pair.found
    noise = "" if found.noise is None else text.number(found.noise)
    return NumberRow(
        sample=pair.sample,
        output=pair.output,
        max_abs_error=text.number(found.max_abs_error),
        max_rel_error=text.number(found.max_rel_error),
        limit=text.number(found.limit),
        noise=noise,
        answer=found.problem or found.inconclusive or text.of_limit(pair.ratio),
        agrees=not found.problem,
    )


def _noise_share(found: ComparedOutput) -> float | None:
    """Return the model's own noise, which is relative to the peak, as a share of the limit."""
    if found.noise is None:
        return None
    error, relative, limit = (
        float(value) for value in (found.max_abs_error, found.max_rel_error, found.limit)
    )
    noise = float(found.noise)
    known = all(math.isfinite(value) and value > 0 for value in (error, relative, limit, noise))
    return noise * error / relative / limit if known else None


def worst_ratio(samples: Iterable[ComparedSample]) -> float:
    """Return the largest share of a limit that any comparison took."""
    conclusive = (
        output for sample in samples for output in sample.outputs if not output.inconclusive
    )
    return max(map(ratio_of, conclusive), default=0.0)
