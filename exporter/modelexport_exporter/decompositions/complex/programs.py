"""Rewrites complex tensors of a program as pairs of real ones, before torch.onnx translates it.

Operators that torch.onnx translates for complex numbers are kept; composite operators, and those
that torch defines in Python, are decomposed; others are computed on pairs. An operator without such
a form is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import torch
from torch.export import ExportedProgram

from modelexport_exporter.decompositions.complex import (
    functions,
    inverse_functions,
    matrices,
    shapes,
)
from modelexport_exporter.decompositions.library import DECOMPOSITIONS
from modelexport_exporter.decompositions.programs import (
    Table,
    arguments,
    calls,
    decline_unless,
    decompose,
    functional,
)
from modelexport_exporter.decompositions.registry import enabled
from modelexport_exporter.torch_internals import pytree
from modelexport_exporter.torch_internals.decomposition_table import decomposition_table
from modelexport_exporter.torch_internals.operators import (
    OpOverload,
    composite_definition,
    is_composite,
)
from modelexport_exporter.torch_internals.translation import has_complex_function

FORMS = {**functions.FORMS, **inverse_functions.FORMS, **matrices.FORMS, **shapes.FORMS}
"""Operators that are computed on pairs, by their names with overloads."""
_DEEPEST = 8
"""The maximum depth of composite operators."""


def complex_as_pairs(program: ExportedProgram, disabled: Collection[str]) -> ExportedProgram:
    """Return the program with its complex tensors handled as pairs where that is needed."""
    for _ in range(_DEEPEST):
        table = _table(program, disabled)
        if not table:
            return program
        try:
            program = decompose(program, table)
        except Exception:  # noqa: BLE001 - torch has no definition of one for such sizes
            return program  # which is refused by that operator's name
    return program


def _table(program: ExportedProgram, disabled: Collection[str]) -> Table:
    """Return what replaces the operators of complex tensors that torch.onnx does not have."""
    called = {functional(node.target) for node in calls(program) if _needs_pairs(node)}
    operators = [op for op in called if enabled(name_of(op), disabled)]
    return {op: found for op in operators if (found := _replacement(op)) is not None}


def name_of(op: OpOverload) -> str:
    """Return `aten::squeeze.dim`, without `.default`."""
    name: str = op.name()  # type: ignore[no-untyped-call]
    return name.removesuffix(".default")


def _needs_pairs(node: torch.fx.Node) -> bool:
    op = functional(node.target)
    if not isinstance(op, OpOverload):
        return False
    args, kwargs = arguments(node)
    form = FORMS.get(name_of(op))
    if form is None:  # others are translated with a complex result, such as stft
        if not _any_complex((args, kwargs)):
            return False
        entry = DECOMPOSITIONS.get(name_of(op))
        decomposed = entry is not None and entry.applies(*args, **kwargs)
        return decomposed or _definition(op) is not None
    return _any_complex((args, kwargs, node.meta.get("val"))) and form.applies(*args, **kwargs)


def _any_complex(values: Any) -> bool:  # noqa: ANN401
    return any(
        leaf.is_complex() if isinstance(leaf, torch.Tensor) else isinstance(leaf, complex)
        for leaf in pytree.tree_leaves(values)
    )


def _replacement(op: OpOverload) -> Callable[..., Any] | None:
    name = name_of(op)
    if (form := FORMS.get(name)) is not None:

        def applies(*args: Any, **kwargs: Any) -> bool:  # noqa: ANN401
            made = kwargs.get("dtype")
            some = _any_complex((args, kwargs)) or (made is not None and made.is_complex)
            return some and form.applies(*args, **kwargs)

        return decline_unless(form.function, applies)
    definition = _definition(op)
    if (entry := DECOMPOSITIONS.get(name)) is None:
        return definition
    own = decline_unless(entry.function, entry.applies)

    def decomposed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        result = own(*args, **kwargs)
        if result is NotImplemented and definition is not None:
            return definition(*args, **kwargs)
        return result

    return decomposed


def _definition(op: OpOverload) -> Callable[..., Any] | None:
    """Return torch's own definition; None for what torch.onnx translates."""
    if has_complex_function(name_of(op)):
        return None
    return composite_definition(op) if is_composite(op) else decomposition_table.get(op)
