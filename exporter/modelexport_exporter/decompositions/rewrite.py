"""Apply the library to an ExportedProgram, before torch.onnx translates it.

Costs one walk over the nodes for a program that holds none of the operators; the program is then
returned as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram

from modelexport_exporter.decompositions.catalogue import (
    COMPOSITES,
    DECOMPOSITIONS,
    Decomposition,
    decomposed,
    enabled,
    functional,
    overload,
)
from modelexport_exporter.decompositions.complex_programs import complex_as_pairs

Table = dict[OpOverload, Callable[..., Any]]


def rewrite_program(program: ExportedProgram, disabled: Collection[str]) -> ExportedProgram:
    """Return the program without the operators that the library decomposes."""
    program = complex_as_pairs(program, disabled)
    wanted = decomposable(disabled)
    composite = {op for name in COMPOSITES if (op := overload(name)) and enabled(name, disabled)}
    if not any(
        _needed(node, wanted) or functional(node.target) in composite for node in _calls(program)
    ):
        return program
    table: Table = {op: _guarded(decomposition) for op, decomposition in wanted.items()}
    table.update({op: _own_definition(op) for op in composite})
    return decomposed(program, table)


def decomposable(disabled: Collection[str]) -> dict[OpOverload, Decomposition]:
    """Return the decompositions that are not disabled, by operator."""
    return {
        op: decomposition
        for name, decomposition in DECOMPOSITIONS.items()
        if enabled(name, disabled) and (op := overload(name)) is not None
    }


def _calls(program: ExportedProgram) -> Iterator[torch.fx.Node]:
    """Yield every call, in the bodies of loops and branches too."""
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            yield from (node for node in module.graph.nodes if node.op == "call_function")


def _needed(node: torch.fx.Node, wanted: dict[OpOverload, Decomposition]) -> bool:
    decomposition = wanted.get(functional(node.target))
    if decomposition is None:
        return False
    args, kwargs = torch.fx.node.map_arg(
        (node.args, node.kwargs), lambda argument: argument.meta.get("val")
    )
    return bool(decomposition.applies(*args, **kwargs))


def _own_definition(op: OpOverload) -> Callable[..., Any]:
    """Return torch's definition of a composite operator, whatever the table says of it."""
    return partial(op._op_dk, torch._C.DispatchKey.CompositeImplicitAutograd)  # noqa: SLF001


def _guarded(decomposition: Decomposition) -> Callable[..., Any]:
    """Return the function as a table of decompositions wants it: it may decline."""

    def decompose(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if not decomposition.applies(*args, **kwargs):
            return NotImplemented
        return decomposition.function(*args, **kwargs)

    return decompose
