"""Captures a model on each side of its conditions, until all declared sizes are covered."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap

from torch.export import ExportedProgram

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import BoundInputs
from modelexport_exporter.convert.branches import ModelToCapture, PartialGraph, SeveralGraphs
from modelexport_exporter.convert.by_size.condition_nodes import Unsupported
from modelexport_exporter.convert.by_size.join import Piece, joined
from modelexport_exporter.convert.by_size.program_region import ProgramRegion, region_of
from modelexport_exporter.convert.by_size.regions import Grid, Region
from modelexport_exporter.convert.capture import capture
from modelexport_exporter.convert.dynamo import finish, translate
from modelexport_exporter.convert.size_guards import (
    MOST_OTHERS,
    MOST_SIZES,
    Condition,
    failing_at,
    find_size_guards,
    guard_of,
    spread,
)
from modelexport_exporter.core.dims import is_dynamic, part_of_dim
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import SizeGuard
from modelexport_exporter.torch_internals.forced_decisions import ForcedDecisions

MOST_PIECES = 12
MOST_SECONDS = 150.0
"""After which no further piece is begun."""
_EXCLUDES_ONE = re.compile(r"\w+ != 1")
Rare = dict[Condition, list[dict[str, int]]]
"""By condition that the grid's sizes fulfil: others that do not, of many more combinations.

`n + m != 4189` fails at a few of millions of pairs, of which a grid holds a part.
"""


def model_by_size(
    subject: ModelToCapture,
    *,
    optimize: bool,
    progress: Callable[[str], None],
    graph: Callable[[ModelToCapture], PartialGraph] | None = None,
    most: int = MOST_PIECES,
) -> SeveralGraphs:
    """Return a model that holds for all declared sizes. Raises ExportFailure.

    `graph`: returns the graph at the sizes of the capture; without it, torch.export's.
    """
    spec, known = subject.bound_inputs.spec, subject.bound_inputs.sizes
    grid = Grid.of(spec.dims)
    pieces: list[Piece] = []
    rare: Rare = {}
    at: Mapping[str, int] | None = known.captured
    until = time.monotonic() + MOST_SECONDS
    while at is not None:
        if pieces and time.monotonic() > until:
            raise _too_many(pieces, at, f"more parts of the declared sizes than {len(pieces)}")
        if len(pieces) == most or grid.fewest([piece.region for piece in pieces]) > most:
            if graph is not None and pieces and _only_excludes_one(pieces[0].region):
                return _for_all(pieces[0], spec)
            raise _too_many(pieces, at, f"more than {most} parts of the declared sizes")
        sizes = ", ".join(f"{name}={size}" for name, size in at.items())
        progress(f"capturing the graph at {sizes}" if sizes else "capturing the graph")
        sized = replace(subject.bound_inputs, sizes=replace(known, captured=dict(at)))
        for inputs in filter(None, (sized, _smallest_fixed(sized))):
            found = (graph or captured_graph)(replace(subject, bound_inputs=inputs))
            region = Region(tuple(_failing(found.conditions, grid, spec, rare)))
            if grid.contains(region, at):
                break
        else:
            raise _not_its_own(region, sizes)
        pieces.append(Piece(finish(found.translation, optimize=optimize), region))
        at = _next_sizes(pieces, grid, known.captured, rare)
    guards = (*_guards(pieces, grid), *starmap(guard_of, rare.items()))
    try:
        return SeveralGraphs(joined(pieces, _places(spec)), guards)
    except (Unsupported, ValueError) as error:
        raise _not_joined(pieces, error) from error


def _failing(
    conditions: Sequence[str],
    grid: Grid,
    spec: ModelExportSpec,
    rare: Rare,
) -> list[str]:
    """Return the conditions that some declared sizes do not fulfil; note rare ones."""
    failing = []
    for text in dict.fromkeys(conditions):
        if not grid.where(text).all():
            failing.append(text)
            continue
        condition = Condition.on_dims(text)
        if condition.dims and (found := rare.get(condition) or failing_at(condition, spec.dims)):
            rare[condition] = found
            failing.append(text)
    return failing


def _next_sizes(
    pieces: Sequence[Piece],
    grid: Grid,
    captured: Mapping[str, int],
    rare: Rare,
) -> dict[str, int] | None:
    """Return sizes that no graph holds for; None if there are none."""
    regions = [piece.region for piece in pieces]
    left = grid.typical(grid.outside(regions))
    if left is not None:
        return {**captured, **left}
    for found in rare.values():
        for sizes in spread(found, MOST_OTHERS):
            at = {**captured, **sizes}
            if not any(grid.contains(region, at) for region in regions):
                return at
    return None


@dataclass(frozen=True)
class Captured:
    """A program of torch.export, and what it takes of the declared sizes."""

    program: ExportedProgram
    part: ProgramRegion | None
    """None: all."""


def captured_at(subject: ModelToCapture, decisions: ForcedDecisions | None = None) -> Captured:
    """Return torch.export's program at the sizes of the capture."""
    try:
        program = _program(subject, decisions, any_range=True)
    except ExportFailure as failure:
        fixed = _smallest_fixed(subject.bound_inputs)
        if failure.reason is not Reason.CAPTURE_FAILED or fixed is None:
            raise
        program = _program(replace(subject, bound_inputs=fixed), decisions, any_range=True)
    return Captured(program, region_of(program, subject.bound_inputs.spec))


def _smallest_fixed(bound_inputs: BoundInputs) -> BoundInputs | None:
    """Return the inputs with dims of 0 and 1 as numbers; None if there are none.

    As symbols they meet most conditions, and torch.export fails on some that have one solution:
    `t + p == 1` where t is 1 or 2.
    """
    call, captured = bound_inputs.call, bound_inputs.sizes.captured
    fixed = {
        name: part_of_dim(captured[name], captured[name])
        for name, dim in call.dims.items()
        if is_dynamic(dim) and captured[name] <= 1
    }
    if not fixed:
        return None
    return replace(bound_inputs, call=replace(call, dims={**call.dims, **fixed}))


def captured_for_all(subject: ModelToCapture, decisions: ForcedDecisions) -> Captured:
    """Return torch.export's program for all declared sizes, of which it makes use.

    `x[:3]` has 3 rows where all sizes have. Raises ExportFailure: DynamicDimSpecialized for a
    program that narrows them.
    """
    return Captured(_program(subject, decisions, any_range=False), None)


def _program(
    subject: ModelToCapture, decisions: ForcedDecisions | None, *, any_range: bool
) -> ExportedProgram:
    return capture(
        subject.module,
        subject.bound_inputs,
        subject.code_dir,
        any_range=any_range,
        decisions=decisions,
    )


def translated(subject: ModelToCapture, captured: Captured) -> PartialGraph:
    """Return the translation of a program, and the conditions on sizes that it assumes."""
    spec, part = subject.bound_inputs.spec, captured.part
    narrowed = spec if part is None else spec.model_copy(update={"dims": dict(part.dims)})
    translation = translate(
        captured.program,
        narrowed,
        subject.plugins,
        subject.code_dir,
        None if part is None else part.names,
    )
    stated = tuple(condition.text for condition in translation.conditions)
    return PartialGraph(translation, (*(part.conditions if part else ()), *stated))


def captured_graph(subject: ModelToCapture) -> PartialGraph:
    """Return torch.export's graph at the sizes of the capture, and where it holds."""
    return translated(subject, captured_at(subject))


def _places(spec: ModelExportSpec) -> dict[str, tuple[int, int]]:
    """Return the first input and axis of each dim."""
    places: dict[str, tuple[int, int]] = {}
    for number, entry in enumerate(spec.inputs):
        for axis, size in enumerate(entry.shape):
            if isinstance(size, str) and is_dynamic(spec.dims[size]):
                places.setdefault(size, (number, axis))
    return places


def _only_excludes_one(region: Region) -> bool:
    """Return whether a graph holds but where a size is 1, which mostly broadcasts alike."""
    return all(_EXCLUDES_ONE.fullmatch(condition) for condition in region.conditions)


def _for_all(piece: Piece, spec: ModelExportSpec) -> SeveralGraphs:
    """Return one graph for all sizes, and as guards those for which it was not captured."""
    conditions = [Condition.on_dims(condition) for condition in piece.region.conditions]
    whole = joined([Piece(piece.model, Region(()))], _places(spec))
    return SeveralGraphs(whole, find_size_guards(conditions, spec))


def _guards(pieces: Sequence[Piece], grid: Grid) -> Iterator[SizeGuard]:
    """Yield for each of several graphs sizes at which it runs: no earlier one holds there."""
    earlier: list[Region] = []
    for piece in pieces if len(pieces) > 1 else ():
        inside = grid.inside(piece.region) & grid.outside(earlier)
        compared = tuple(grid.spread(inside, MOST_SIZES))
        others = tuple(grid.spread(inside, MOST_OTHERS))
        if compared:
            yield SizeGuard(f"not ({piece.region})", "", compared, others)
        earlier.append(piece.region)


def _too_many(pieces: Sequence[Piece], left: Mapping[str, int], parts: str) -> ExportFailure:
    some = "; ".join(str(piece.region) for piece in pieces[:3])
    sizes = ", ".join(f"{name}={size}" for name, size in left.items())
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        f"the model has another graph for {parts} ({some}; …; left is, among others, {sizes})",
        "Compute with sizes in torch operators, or declare in dims only the sizes in use.",
    )


def _not_its_own(region: Region, sizes: str) -> ExportFailure:
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        f"the graph that was captured at {sizes} states conditions that do not hold there: "
        f"{region}",
        "Declare in dims only the sizes on one side of the model's conditions.",
    )


def _not_joined(pieces: Sequence[Piece], error: Exception) -> ExportFailure:
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        f"the model has {len(pieces)} graphs for parts of the declared sizes, which one file "
        f"cannot choose from: {error}",
        "Return the same number of outputs, of the same types and ranks, for all sizes, or declare "
        "in dims only the sizes on one side.",
    )
