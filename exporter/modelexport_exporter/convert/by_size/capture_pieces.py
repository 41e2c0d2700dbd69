"""Captures a model on each side of its conditions, until all declared sizes are covered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import BoundInputs
from modelexport_exporter.convert.branches import SeveralGraphs
from modelexport_exporter.convert.by_size.condition_nodes import Unsupported
from modelexport_exporter.convert.by_size.join import Piece, joined
from modelexport_exporter.convert.by_size.program_region import region_of
from modelexport_exporter.convert.by_size.regions import Grid, Region
from modelexport_exporter.convert.capture import capture
from modelexport_exporter.convert.dynamo import finish, translate
from modelexport_exporter.core.dims import is_dynamic
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import SizeGuard
from modelexport_exporter.plugins.plugins import Plugins

MOST_PIECES = 12
MOST_COMPARED = 4
"""Sizes of each piece that are compared."""
MOST_OTHERS = 2048
"""The same at which eager PyTorch alone runs."""


def model_by_size(
    module: torch.nn.Module,
    bound_inputs: BoundInputs,
    plugins: Plugins,
    code_dir: Path | None,
    *,
    optimize: bool,
    progress: Callable[[str], None],
) -> SeveralGraphs:
    """Return a model that holds for all declared sizes. Raises ExportFailure."""
    spec = bound_inputs.spec
    grid = Grid.of(spec.dims)
    pieces: list[Piece] = []
    at: Mapping[str, int] | None = bound_inputs.sizes.captured
    while at is not None:
        if len(pieces) == MOST_PIECES:
            raise _too_many(pieces, at)
        sizes = ", ".join(f"{name}={size}" for name, size in at.items())
        progress(f"capturing the graph at {sizes}")
        sized = replace(bound_inputs, sizes=replace(bound_inputs.sizes, captured=dict(at)))
        piece = _piece(module, sized, plugins, code_dir, grid, optimize=optimize)
        if not grid.contains(piece.region, at):
            raise _not_its_own(piece, sizes)
        pieces.append(piece)
        at = grid.typical(grid.outside([piece.region for piece in pieces]))
        if at is not None:
            at = {**bound_inputs.sizes.captured, **at}
    guards = tuple(_guards(pieces, grid))
    try:
        return SeveralGraphs(joined(pieces, _places(spec)), guards)
    except (Unsupported, ValueError) as error:
        raise _not_joined(pieces, error) from error


def _piece(
    module: torch.nn.Module,
    bound_inputs: BoundInputs,
    plugins: Plugins,
    code_dir: Path | None,
    grid: Grid,
    *,
    optimize: bool,
) -> Piece:
    """Return the graph at the sizes of the capture, and where it holds."""
    spec = bound_inputs.spec
    program = capture(module, bound_inputs, code_dir, any_range=True)
    found = region_of(program, spec)
    narrowed = spec.model_copy(update={"dims": dict(found.dims)})
    translation = translate(program, narrowed, plugins, code_dir, found.names)
    stated = dict.fromkeys(condition.text for condition in translation.conditions)
    failing = [text for text in stated if not grid.where(text).all()]
    return Piece(finish(translation, optimize=optimize), Region((*found.conditions, *failing)))


def _places(spec: ModelExportSpec) -> dict[str, tuple[int, int]]:
    """Return the first input and axis of each dim."""
    places: dict[str, tuple[int, int]] = {}
    for number, entry in enumerate(spec.inputs):
        for axis, size in enumerate(entry.shape):
            if isinstance(size, str) and is_dynamic(spec.dims[size]):
                places.setdefault(size, (number, axis))
    return places


def _guards(pieces: Sequence[Piece], grid: Grid) -> Iterator[SizeGuard]:
    """Yield for each graph sizes at which it runs: none of the earlier ones holds there."""
    earlier: list[Region] = []
    for piece in pieces:
        inside = grid.inside(piece.region) & grid.outside(earlier)
        compared = tuple(grid.spread(inside, MOST_COMPARED))
        others = tuple(grid.spread(inside, MOST_OTHERS))
        yield SizeGuard(f"not ({piece.region})", "", compared, others)
        earlier.append(piece.region)


def _too_many(pieces: Sequence[Piece], left: Mapping[str, int]) -> ExportFailure:
    some = "; ".join(str(piece.region) for piece in pieces[:3])
    sizes = ", ".join(f"{name}={size}" for name, size in left.items())
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        f"the model has another graph for more than {MOST_PIECES} parts of the declared sizes "
        f"({some}; …; left is, among others, {sizes})",
        "Compute with sizes in torch operators, or declare in dims only the sizes in use.",
    )


def _not_its_own(piece: Piece, sizes: str) -> ExportFailure:
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        f"the graph that was captured at {sizes} states conditions that do not hold there: "
        f"{piece.region}",
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
