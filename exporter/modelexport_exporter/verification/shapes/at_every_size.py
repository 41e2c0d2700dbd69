"""Compares shapes at sizes that are too expensive to run.

The file's shapes come from the runtime's own arithmetic of sizes, the wanted ones from the shapes
that the file declares and, as time permits, from the original module run on tensors without
contents. Sizes at which they differ are no verdict: they are to be run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.dims import DimSizes, in_spread_order, is_dynamic
from modelexport_exporter.onnx_file.read_back import ANY_RANK
from modelexport_exporter.verification.shapes.declared import Declared
from modelexport_exporter.verification.shapes.expressions import evaluate
from modelexport_exporter.verification.shapes.file_shapes import FileShapes, Known
from modelexport_exporter.verification.shapes.observed import Observed, Shape

MOST_SIZES = 4096
"""Sizes that are compared at most."""
MOST_SUSPECTS = 4
"""Sizes that are worth a run."""

EagerShapes = Callable[[Mapping[str, int]], Sequence[Shape] | None]
"""The shapes of the outputs that the original module returns; None: unknown."""


@dataclass(frozen=True)
class ComparedShapes:
    """At which sizes shapes were compared, and at which they differ."""

    compared: tuple[dict[str, int], ...] = ()
    suspects: tuple[dict[str, int], ...] = ()


def compare_at_every_size(
    spec: ModelExportSpec,
    path: Path,
    declared: Mapping[str, Declared],
    runs: Sequence[Observed],
    *,
    eager: EagerShapes | None,
    seconds: float,
) -> ComparedShapes:
    """Compare at sizes that did not run, within the time.

    Without `eager`, the file is compared with the shapes that it declares only.
    """
    left = list(islice(_sizes_left(spec, runs), MOST_SIZES)) if runs else []
    deadline = time.monotonic() + (seconds / 2 if eager else seconds)
    shapes = FileShapes(path) if left else None
    first = shapes.at(runs[0].sizes) if shapes else None
    if shapes is None or first is None or not _agree(first, runs[0].shapes):
        return ComparedShapes()  # nothing is left, or this does not understand the file
    agreeing: list[tuple[dict[str, int], dict[str, Known]]] = []
    suspects: list[dict[str, int]] = []
    for sizes in left:
        if time.monotonic() > deadline or len(suspects) == MOST_SUSPECTS:
            break
        found = shapes.at(sizes)
        if found is None or not _agree(found, _declared_at(declared, sizes)):
            suspects.append(sizes)
        else:
            agreeing.append((sizes, found))
    if eager:
        suspects += _differing(agreeing, list(declared), eager, deadline + seconds / 2)
    complete = _covers(first, _declared_at(declared, runs[0].sizes))
    compared = [sizes for sizes, _ in agreeing if complete and sizes not in suspects]
    return ComparedShapes(tuple(compared), tuple(suspects))


def _differing(
    found: Sequence[tuple[dict[str, int], dict[str, Known]]],
    outputs: Sequence[str],
    eager: EagerShapes,
    deadline: float,
) -> list[dict[str, int]]:
    """Return the sizes at which the original module returns other shapes than the file."""
    differing: list[dict[str, int]] = []
    for sizes, shapes in found:
        if time.monotonic() > deadline or len(differing) == MOST_SUSPECTS:
            break
        wanted = eager(sizes)
        if wanted is None or len(wanted) != len(outputs):
            break  # the next size would fail, too
        if not _agree(shapes, dict(zip(outputs, wanted, strict=True))):
            differing.append(sizes)
    return differing


def describe_shapes(
    spec: ModelExportSpec, ran: Iterable[Mapping[str, int]], compared: Iterable[Mapping[str, int]]
) -> list[str]:
    """Return `declared shapes at all 512 sizes of seq` for each dim with sizes that did not run."""
    ran, compared = list(ran), list(compared)
    sentences = []
    for name, dim in spec.dims.items():
        run = {sizes[name] for sizes in ran if name in sizes}
        both = run | {sizes[name] for sizes in compared if name in sizes}
        total = dim.max - dim.min + 1
        if len(both) > len(run):
            share = f"all {total}" if len(both) == total else f"{len(both)} of {total}"
            sentences.append(f"declared shapes at {share} sizes of {name}")
    return sentences


def _sizes_left(spec: ModelExportSpec, runs: Sequence[Observed]) -> Iterator[dict[str, int]]:
    """Yield sizes of each dim that no run had, the others at their size in between."""
    others = DimSizes.of(spec).between
    left = []
    for name, dim in spec.dims.items():
        if is_dynamic(dim):
            met = {run.sizes.get(name) for run in runs}
            left.append([size for size in in_spread_order(dim) if size not in met])
    names = [name for name, dim in spec.dims.items() if is_dynamic(dim)]
    for together in zip_longest(*left):
        for name, size in zip(names, together, strict=True):
            if size is not None:
                yield {**others, name: size}


def _covers(found: Mapping[str, Known], declared: Mapping[str, Known]) -> bool:
    """Return whether all is known that the declared shapes state."""
    return all(
        len(found.get(name, ())) == len(shape)
        and all(
            size is not None or wanted is None
            for size, wanted in zip(found.get(name, ()), shape, strict=True)
        )
        for name, shape in declared.items()
    )


def _declared_at(declared: Mapping[str, Declared], sizes: Mapping[str, int]) -> dict[str, Known]:
    return {
        name: tuple(size if isinstance(size, int) else evaluate(size, sizes) for size in shape)
        for name, shape in declared.items()
        if shape != (ANY_RANK,)
    }


def _agree(found: Mapping[str, Known], wanted: Mapping[str, Known | Shape]) -> bool:
    """Return whether known sizes are equal."""
    for name, shape in found.items():
        other = wanted.get(name)
        if other is None:
            continue
        if len(shape) != len(other):
            return False
        if any(None not in pair and len(set(pair)) > 1 for pair in zip(shape, other, strict=True)):
            return False
    return True
