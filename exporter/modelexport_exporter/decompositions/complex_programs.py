"""Programs with complex tensors inside: computed with real ones, before torch.onnx sees them.

Operators that torch.onnx has for complex numbers stay; those that consist of others are taken
apart; for the rest there is a form of pairs. What remains is refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from typing import Any

import torch
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.onnx._internal.exporter._registration import ONNXRegistry
from torch.utils import _pytree as pytree

from modelexport_exporter.decompositions.catalogue import (
    DECOMPOSITIONS,
    decomposed,
    enabled,
    functional,
)
from modelexport_exporter.decompositions.complex_numbers import FUNCTIONS, OF_TWO, both_complex
from modelexport_exporter.decompositions.complex_shapes import SHAPES

FORMS = {**SHAPES, **FUNCTIONS}
_DEEPEST = 8
"""How often what an operator consists of consists of others."""


def complex_as_pairs(program: ExportedProgram, disabled: Collection[str]) -> ExportedProgram:
    """Return the program with its complex tensors handled as pairs where that is needed."""
    for _ in range(_DEEPEST):
        table = {
            op: form
            for op in {functional(node.target) for node in _complex_calls(program)}
            if isinstance(op, OpOverload) and (form := _form(op, disabled)) is not None
        }
        if not table:
            return program
        try:
            program = decomposed(program, table)
        except Exception:  # noqa: BLE001 - torch has no definition of one for such sizes
            return program  # which is refused by that operator's name
    return program


def name_of(op: OpOverload) -> str:
    """Return `aten::squeeze.dim`, without `.default`."""
    return op._name.removesuffix(".default")  # noqa: SLF001


def _complex_calls(program: ExportedProgram) -> Iterator[torch.fx.Node]:
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                if node.op == "call_function" and _is_complex(node):
                    yield node


def _is_complex(node: torch.fx.Node) -> bool:
    given: Any = (node.args, node.kwargs)
    args, kwargs = torch.fx.node.map_arg(given, lambda argument: argument.meta.get("val"))
    op = functional(node.target)
    name = name_of(op) if isinstance(op, OpOverload) else ""
    if name in OF_TWO and both_complex(*args, **kwargs):
        return False
    # Others than these are translated with a complex result, such as stft.
    result = node.meta.get("val") if name in FORMS else None
    return _any_complex([args, kwargs, result])


def _any_complex(values: Any) -> bool:  # noqa: ANN401
    return any(
        leaf.is_complex() if isinstance(leaf, torch.Tensor) else isinstance(leaf, complex)
        for leaf in pytree.tree_leaves(values)
    )


def _form(op: OpOverload, disabled: Collection[str]) -> Callable[..., Any] | None:
    name = name_of(op)
    if not enabled(name, disabled):
        return None
    if name in FORMS:
        return partial(_if_complex, FORMS[name])
    if name in _translated() or name in DECOMPOSITIONS:
        return None
    key = torch._C.DispatchKey.CompositeImplicitAutograd  # noqa: SLF001
    if torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), key):  # type: ignore[no-untyped-call]  # noqa: SLF001
        return partial(op._op_dk, key)  # noqa: SLF001
    return None


def _if_complex(form: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    made = kwargs.get("dtype")
    if _any_complex((args, kwargs)) or (made is not None and made.is_complex):
        return form(*args, **kwargs)
    return NotImplemented


@cache
def _translated() -> frozenset[str]:
    """Return the operators that torch.onnx translates for complex numbers."""
    functions = ONNXRegistry.from_torchlib(opset_version=18).functions
    return frozenset(
        str(name) for name, found in functions.items() if any(one.is_complex for one in found)
    )
