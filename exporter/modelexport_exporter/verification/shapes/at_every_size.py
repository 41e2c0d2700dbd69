"""Compares shapes at sizes that are too expensive to run.

The file's shapes follow from its nodes and its arithmetic of sizes (`all_sizes`; the runtime's own
session for each size where that does not understand the file). The wanted ones are those that the
original module returns on tensors without contents, and those that the file declares. Sizes at
which they differ are no verdict: they are to be run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.dims import ANY_RANK, is_dynamic
from modelexport_exporter.verification.shapes.all_sizes import shapes_at_all
from modelexport_exporter.verification.shapes.declared import Declared
from modelexport_exporter.verification.shapes.expressions import evaluate
from modelexport_exporter.verification.shapes.file_shapes import FileShapes, Known
from modelexport_exporter.verification.shapes.observed import EagerShapes, Observed, Shape
from modelexport_exporter.verification.shapes.sizes_left import sizes_left

MOST_SUSPECTS = 4
"""Sizes that are worth a run."""
ONE_BY_ONE_SHARE = 0.25
"""Of the time, for a session at each size."""

Sizes = dict[str, int]


@dataclass(frozen=True)
class ComparedShapes:
    """At which sizes shapes were compared, and at which they differ."""

    with_eager: tuple[Sizes, ...] = ()
    """With those of the original module, and with the declared ones."""
    declared: tuple[Sizes, ...] = ()
    """With the declared ones."""
    suspects: tuple[Sizes, ...] = ()


def compare_at_every_size(
    spec: ModelExportSpec,
    path: Path,
    declared: Mapping[str, Declared],
    runs: Sequence[Observed],
    *,
    eager: EagerShapes,
    seconds: float,
    named: Sequence[int] = (),
    clock: Callable[[], float] = time.process_time,
) -> ComparedShapes:
    """Compare at sizes that did not run, within so much time of `clock`.

    `named`: numbers of the model.
    """
    deadline = clock() + seconds
    left = sizes_left(spec, [run.sizes for run in runs], named) if runs else []
    found = _file_shapes(path, declared, runs, left, seconds * ONE_BY_ONE_SHARE) if left else {}
    at_sizes = [(left[place], own) for place, own in found.items()]
    agreeing, suspects = _with_declared(at_sizes, declared)
    outputs = tuple(runs[0].shapes) if runs else ()
    alike, differing = _with_eager(agreeing, outputs, eager, lambda: clock() > deadline)
    wrong = [*suspects, *differing]
    complete = [
        sizes
        for sizes, own in agreeing
        if sizes not in differing and _covers(own, _declared_at(declared, sizes))
    ]
    return ComparedShapes(tuple(alike), tuple(complete), tuple(wrong[:MOST_SUSPECTS]))


def _file_shapes(
    path: Path,
    declared: Mapping[str, Declared],
    runs: Sequence[Observed],
    left: Sequence[Sizes],
    seconds: float,
) -> dict[int, dict[str, Known] | None]:
    """Return the file's shapes by the place of their sizes; none if it is not understood.

    What is said of runs must be what they returned. None: the file cannot be loaded at a size.
    """
    at_all = shapes_at_all(path, [*(run.sizes for run in runs), *left]) or []
    for_runs = list(zip(at_all, runs, strict=False))
    if not all(_agree(own, run.shapes) for own, run in for_runs):
        at_all, for_runs = [], []  # this does not understand the file
    found: dict[int, dict[str, Known] | None] = dict(enumerate(at_all[len(runs) :]))
    if not for_runs or not all(_covers(own, run.shapes) for own, run in for_runs):
        found |= _one_by_one(path, runs[0], left, seconds)
    return found


def _one_by_one(
    path: Path, run: Observed, left: Sequence[Sizes], seconds: float
) -> dict[int, dict[str, Known] | None]:
    """Return the same, of as many sizes as the time allows, with a session for each."""
    deadline = time.process_time() + seconds
    shapes = FileShapes(path)
    first = shapes.at(run.sizes)
    found: dict[int, dict[str, Known] | None] = {}
    if first is None or not _agree(first, run.shapes):
        return found
    for place, sizes in enumerate(left):
        if time.process_time() > deadline:
            break
        found[place] = shapes.at(sizes)
    return found


def _with_declared(
    found: Iterable[tuple[Sizes, dict[str, Known] | None]], declared: Mapping[str, Declared]
) -> tuple[list[tuple[Sizes, dict[str, Known]]], list[Sizes]]:
    """Return what agrees with the declared shapes, and sizes at which others do not."""
    agreeing: list[tuple[Sizes, dict[str, Known]]] = []
    suspects: list[Sizes] = []
    for sizes, shapes in found:
        if shapes is not None and _agree(shapes, _declared_at(declared, sizes)):
            agreeing.append((sizes, shapes))
        elif len(suspects) < MOST_SUSPECTS:
            suspects.append(sizes)
    return agreeing, suspects


def _with_eager(
    found: Sequence[tuple[Sizes, dict[str, Known]]],
    outputs: Sequence[str],
    eager: EagerShapes,
    is_late: Callable[[], bool],
) -> tuple[list[Sizes], list[Sizes]]:
    """Return sizes at which the original module returns all the shapes of the file, and others."""
    alike: list[Sizes] = []
    differing: list[Sizes] = []
    for sizes, shapes in found:
        if is_late() or len(differing) == MOST_SUSPECTS:
            break
        wanted = eager(sizes)
        if wanted is None or len(wanted) != len(outputs):
            break  # the next size would fail, too
        by_name = dict(zip(outputs, wanted, strict=True))
        if not _agree(shapes, by_name):
            differing.append(sizes)
        elif _covers(shapes, by_name):
            alike.append(sizes)
    return alike, differing


def describe_shapes(
    spec: ModelExportSpec, ran: Iterable[Mapping[str, int]], compared: ComparedShapes
) -> dict[str, str]:
    """Return `shapes at all`, `declared shapes at 30`, for dims with sizes that did not run."""
    ran = list(ran)
    found: dict[str, str] = {}
    for name in (name for name, dim in spec.dims.items() if is_dynamic(dim)):
        met = [_of(name, ran), _of(name, compared.with_eager), _of(name, compared.declared)]
        total = spec.dims[name].max - spec.dims[name].min + 1
        parts = []
        most = met[0]
        for what, further in zip(("shapes", "declared shapes"), met[1:], strict=True):
            more = met[0] | further
            if len(more) > len(most):
                parts.append(f"{what} at {'all' if len(more) == total else len(more)}")
                most = more
        if parts:
            found[name] = ", ".join(parts)
    return found


def _of(name: str, combinations: Iterable[Mapping[str, int]]) -> set[int]:
    return {sizes[name] for sizes in combinations if name in sizes}


def _covers(found: Mapping[str, Known], wanted: Mapping[str, Known | Shape]) -> bool:
    """Return whether all is known that the wanted shapes state."""
    return all(
        len(found.get(name, ())) == len(shape)
        and all(
            size is not None or other is None
            for size, other in zip(found.get(name, ()), shape, strict=True)
        )
        for name, shape in wanted.items()
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
