"""docs/onnxruntime.md: written from a sweep, and read back by the tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import onnxruntime
import torch

from kernels import attention, detection, elementwise, networks, reductions, shaping
from kernels.dispositions import DISPOSITIONS
from kernels.emitted import LEFT_OUT, emitted
from kernels.kernel import Difference, sweep

PAGE = Path(__file__).parents[2] / "docs" / "onnxruntime.md"
KERNELS = (
    *elementwise.KERNELS,
    *reductions.KERNELS,
    *networks.KERNELS,
    *shaping.KERNELS,
    *detection.KERNELS,
    *attention.KERNELS,
)
_TABLE = "## What differs"
_HEAD = """\
# onnxruntime's kernels

Every operator that an exported file may hold, run alone by onnxruntime's CPU provider and compared
with the torch expression that it stands for: in every dtype for which it has a kernel, at the
limits of the dtype, around 2²⁴, 2³¹ and 2⁵³, at ties, NaN, infinities, -0.0, subnormal numbers, in
arrays whose lengths meet the vectorized part of a kernel and its rest, and in empty ones. Integers
must be equal; floats may differ by {elements} units of roundoff, and by {sums} units of the largest
result where elements are summed.

| onnxruntime | torch | operators | forms of them |
| --- | --- | --- | --- |
| {runtime} | {torch} | {operators} | {kernels} |

`make kernels` writes this page; a nightly test repeats the sweep, another one checks a part of it.
Kernels use the CPU's vector instructions: with others, Max, Min, Clip, ReduceMax and ReduceMin of
int64 may be right.

What differs is *rewritten* where another kernel is exact
([exact_kernels](../exporter/modelexport_exporter/convert/exact_kernels/rewrite.py), and the
[decompositions](decompositions.md)). The others are *refused*: samples of the
[verdict](verdict.md) meet them, and the file is not published. What is *harmless* differs by less
than a module's own rounding, or in what no module returns.

{table}

A value is an example: what onnxruntime returns, and torch.

| operator | what differs | of which inputs | example | here |
| --- | --- | --- | --- | --- |
{rows}

## Operators that are not swept

| operator | why |
| --- | --- |
{left_out}
"""


@dataclass(frozen=True, order=True)
class Row:
    """The differences of one kind that an operator has."""

    operator: str
    kind: str
    inputs: tuple[str, ...]
    """`int64: 2^53, ends`, one for each dtype."""
    example: str


def rows(differences: Iterable[Difference]) -> list[Row]:
    """Return the differences, those of all forms of an operator together."""
    grouped: dict[tuple[str, str], list[Difference]] = {}
    for found in differences:
        operator = found.kernel.partition(" (")[0]
        grouped.setdefault((operator, found.kind), []).append(found)
    return [_row(*key, found) for key, found in sorted(grouped.items())]


def _row(operator: str, kind: str, found: list[Difference]) -> Row:
    classes: dict[str, dict[str, None]] = {}
    for one in found:
        classes.setdefault(one.dtype, {})[one.inputs] = None
    inputs = tuple(f"{dtype}: {', '.join(sorted(names))}" for dtype, names in classes.items())
    return Row(operator, kind, inputs, found[0].example.replace("|", "\\|"))


def differences(operators: Iterable[str] | None = None) -> Iterator[Difference]:
    """Sweep the operators, or all."""
    wanted = None if operators is None else set(operators)
    for kernel in KERNELS:
        if wanted is None or kernel.operator in wanted:
            yield from sweep(kernel)


def render(found: Iterable[Row]) -> str:
    """Return the page."""
    from kernels.kernel import ROUNDING

    lines = [
        f"| {row.operator} | {row.kind} | {'; '.join(row.inputs)} | {row.example} "
        f"| {DISPOSITIONS[row.operator, row.kind]} |"
        for row in found
    ]
    return _HEAD.format(
        elements=ROUNDING[True],
        sums=ROUNDING[False],
        runtime=onnxruntime.__version__,
        torch=torch.__version__.partition("+")[0],
        operators=len({kernel.operator for kernel in KERNELS}),
        kernels=len(KERNELS),
        table=_TABLE,
        rows="\n".join(lines),
        left_out="\n".join(f"| {name} | {why} |" for name, why in sorted(LEFT_OUT.items())),
    )


def parse(text: str) -> list[Row]:
    """Return the rows of a page."""
    table = text.partition(_TABLE)[2].partition("\n## ")[0]
    found = []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "\0").split("|")]
        if len(cells) == 7 and cells[1] not in {"operator", "---"}:
            example = cells[4].replace("\0", "\\|")
            found.append(Row(cells[1], cells[2], tuple(cells[3].split("; ")), example))
    return found


def unswept() -> set[str]:
    """Return the operators of the translations that are neither swept nor left out."""
    return set(emitted()) - {kernel.operator for kernel in KERNELS} - set(LEFT_OUT)
