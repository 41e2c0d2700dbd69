"""Apply the library to an ExportedProgram, while torch.onnx translates it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager

from torch.export import ExportedProgram

from modelexport_exporter.decompositions.complex.programs import complex_as_pairs
from modelexport_exporter.decompositions.library import COMPOSITES, DECOMPOSITIONS
from modelexport_exporter.decompositions.programs import (
    Table,
    decline_unless,
    with_any_strides,
    with_tensors_for_numbers,
)
from modelexport_exporter.decompositions.registry import Decomposition, enabled
from modelexport_exporter.torch_internals.operators import (
    OpOverload,
    composite_definition,
    find_overload,
)
from modelexport_exporter.torch_internals.translation import decomposing_first_by


def prepared(program: ExportedProgram, disabled: Collection[str]) -> ExportedProgram:
    """Return the program without complex numbers, for a translation while `decomposing`."""
    return with_any_strides(complex_as_pairs(with_tensors_for_numbers(program), disabled))


def decomposing(disabled: Collection[str]) -> AbstractContextManager[None]:
    """Let torch.onnx decompose by the library before its own definitions, in the block.

    In one pass: its definitions lead to operators of the library that the program does not have.
    """
    return decomposing_first_by(whole_table(disabled))


def whole_table(disabled: Collection[str]) -> Table:
    """Return the decompositions that are not disabled, each of which may decline a call."""
    table: Table = {
        op: decline_unless(entry.function, entry.applies)
        for op, entry in decomposable(disabled).items()
    }
    table.update({op: composite_definition(op) for op in _composite(disabled)})
    return table


def _composite(disabled: Collection[str]) -> set[OpOverload]:
    return {op for name in COMPOSITES if (op := find_overload(name)) and enabled(name, disabled)}


def decomposable(disabled: Collection[str]) -> dict[OpOverload, Decomposition]:
    """Return the decompositions that are not disabled, by operator."""
    return {
        op: decomposition
        for name, decomposition in DECOMPOSITIONS.items()
        if enabled(name, disabled) and (op := find_overload(name)) is not None
    }
