"""Apply the library to an ExportedProgram, before torch.onnx translates it.

A program without such operators is returned unchanged, after one pass over its nodes.
"""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch.export import ExportedProgram

from modelexport_exporter.decompositions.complex.programs import complex_as_pairs
from modelexport_exporter.decompositions.library import COMPOSITES, DECOMPOSITIONS
from modelexport_exporter.decompositions.programs import (
    Table,
    arguments,
    calls,
    decline_unless,
    decompose,
    functional,
)
from modelexport_exporter.decompositions.registry import Decomposition, enabled
from modelexport_exporter.torch_internals.operators import (
    OpOverload,
    composite_definition,
    find_overload,
)


def rewrite_program(program: ExportedProgram, disabled: Collection[str]) -> ExportedProgram:
    """Return the program without the operators that the library decomposes."""
    program = complex_as_pairs(program, disabled)
    wanted, composite = decomposable(disabled), _composite(disabled)
    if not any(
        _is_needed(node, wanted) or functional(node.target) in composite for node in calls(program)
    ):
        return program
    return decompose(program, whole_table(disabled))


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


def _is_needed(node: torch.fx.Node, wanted: dict[OpOverload, Decomposition]) -> bool:
    decomposition = wanted.get(functional(node.target))
    if decomposition is None:
        return False
    args, kwargs = arguments(node)
    return bool(decomposition.applies(*args, **kwargs))
