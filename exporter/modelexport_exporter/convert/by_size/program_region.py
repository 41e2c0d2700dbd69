"""What a captured program says of its dims: their names, and the sizes that it holds for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram

from modelexport_api.reasons import Reason
from modelexport_api.spec import Dim, ModelExportSpec
from modelexport_exporter.convert.program_dims import sizes_in_program
from modelexport_exporter.core.dims import is_dynamic, part_of_dim
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.torch_internals.symbolic_sizes import size_expression


@dataclass(frozen=True)
class ProgramRegion:
    """The dims of a program that was captured without asking for ranges."""

    names: Mapping[str, str]
    """The declared name of each symbol; the first one of dims that are always equal."""
    dims: Mapping[str, Dim]
    """The declared dims, narrowed to what the program takes."""
    conditions: tuple[str, ...]
    """What makes the declared dims narrower: `n == 16`, `w >= 7`, `n == m`."""


def region_of(program: ExportedProgram, spec: ModelExportSpec) -> ProgramRegion:
    """Return the sizes that the inputs of a program allow. Raises ExportFailure."""
    names: dict[str, str] = {}
    dims = dict(spec.dims)
    conditions: dict[str, None] = {}
    ranges = {str(symbol): values for symbol, values in program.range_constraints.items()}
    for size in sizes_in_program(program, spec):
        declared = size.declared
        if not (isinstance(declared, str) and is_dynamic(spec.dims[declared])):
            continue
        # Without ranges, torch.export gives each input a symbol of its own for the same dim.
        low, high = dims[declared].min, dims[declared].max
        if isinstance(size.obtained, torch.SymInt):
            symbol = size_expression(size.obtained)
            if not symbol.isidentifier():
                raise _of_another_form(declared, symbol)
            first = names.setdefault(symbol, declared)
            if first != declared:
                conditions[f"{first} == {declared}"] = None
            if (values := ranges.get(symbol)) is not None:
                low = max(low, int(values.lower))
                high = high if values.upper > high else int(values.upper)
        else:
            low = high = size.obtained
        dims[declared] = part_of_dim(low, high)
    for name, dim in dims.items():
        conditions |= dict.fromkeys(_narrower(name, dim, spec.dims[name]))
    return ProgramRegion(names, dims, tuple(conditions))


def _narrower(name: str, dim: Dim, declared: Dim) -> list[str]:
    if dim.min == dim.max != declared.max or dim.min == dim.max != declared.min:
        return [f"{name} == {dim.min}"]
    found = [f"{name} >= {dim.min}"] if dim.min > declared.min else []
    return [*found, *([f"{name} <= {dim.max}"] if dim.max < declared.max else [])]


def _of_another_form(dim: str, expression: str) -> ExportFailure:
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        f"dim {dim}: the model takes only sizes of the form {expression}",
        "Declare in dims only the sizes that the model accepts.",
    )
