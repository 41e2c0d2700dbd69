"""The symbolic functions of torch's TorchScript exporter: their registry, and their helpers.

torch.onnx.register_custom_op_symbolic is public; reading the registry, and undoing a registration
completely, is not.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any
from unittest.mock import patch

from torch.onnx._internal.torchscript_exporter import (
    _type_utils,
    jit_utils,
    registration,
    symbolic_helper,
    symbolic_opset9,
    symbolic_opset11,
    utils,
)

Symbolic = Callable[..., Any]
Key = tuple[str, int]
"""An operator, `aten::elu`, and the opset that a symbolic function is registered for."""

PYTHON_OP = "prim::PythonOp"
"""The kind of a node that calls a torch.autograd.Function."""
JitScalarType = _type_utils.JitScalarType
"""The element type of a Value; torch.onnx has the name, but does not export it."""
GraphContext = jit_utils.GraphContext
"""What symbolic functions get as `g`."""
OLDEST_SYMBOLIC = 7
NEWEST_SYMBOLIC = 20

is_none = symbolic_helper._is_none  # noqa: SLF001
"""Whether a Value of the graph is None."""
is_float = symbolic_helper._is_fp  # noqa: SLF001
"""Whether a Value is known to be a tensor of floats."""
is_list = symbolic_helper._is_packed_list  # noqa: SLF001
"""Whether a Value is a list of other Values."""
unpack_list = symbolic_helper._unpack_list  # noqa: SLF001
"""Return the Values in a list or a tuple."""
read_attribute = symbolic_helper._node_get  # noqa: SLF001
"""Return an attribute of a node as a Python value."""
rank_of = symbolic_helper._get_tensor_rank  # noqa: SLF001
"""Return the number of dims of a Value; None where it is not known."""
dim_size = symbolic_helper._get_tensor_dim_size  # noqa: SLF001
"""Return the size of a dim of a Value; None where it is not known."""
slice_value = symbolic_helper._slice_helper  # noqa: SLF001
"""Write a Slice."""
as_scalar_of = symbolic_helper._if_scalar_type_as  # noqa: SLF001
"""Give a number the element type of a Value."""
promoted_type = symbolic_helper._type_promote_from_values  # noqa: SLF001
"""Return the element type that Values are promoted to."""
cast_to = symbolic_helper._maybe_cast_to_type  # noqa: SLF001
"""Cast a Value, unless it has the element type."""
parse_argument = symbolic_helper._parse_arg  # noqa: SLF001
"""Return a constant Value as Python: an `i`nteger, a `b`oolean."""
list_contains = symbolic_opset9.__contains_  # noqa: SLF001
"""torch's symbolic function of `element in values`."""
add_values = symbolic_opset11.add
"""torch's symbolic function of `x + y`."""


def is_list_of_numbers(value: Any) -> bool:  # noqa: ANN401
    """Return whether a Value of a program is a list of int or float."""
    kind = value.type()
    return kind.kind() == "ListType" and kind.getElementType().kind() in {"IntType", "FloatType"}


def is_registered(name: str, opset: int) -> bool:
    """Return whether a symbolic function is registered; `name` without its overload."""
    import_symbolics()
    return bool(registration.registry.is_registered_op(name, opset))


def first_opset(name: str) -> int | None:
    """Return the first opset with a symbolic function."""
    import_symbolics()
    group = registration.registry.get_function_group(name)
    return None if group is None else int(group.get_min_supported())


@cache
def import_symbolics() -> None:
    """Register torch's own functions of all opsets, which torch does at its first export."""
    utils._trigger_symbolic_function_registration()  # noqa: SLF001


def symbolic_modules() -> Iterator[tuple[int, ModuleType]]:
    """Yield the modules of each opset: torch's own, and the copies under the public names."""
    for version in range(OLDEST_SYMBOLIC, NEWEST_SYMBOLIC + 1):
        for package in ("torch.onnx._internal.torchscript_exporter", "torch.onnx"):
            yield version, importlib.import_module(f"{package}.symbolic_opset{version}")


def custom_symbolics() -> dict[Key, Symbolic]:
    """Return the functions that were registered over or next to torch's own."""
    return {
        (name, version): function
        for name, group in registration.registry._registry.items()  # noqa: SLF001
        for version, function in group._functions._overrides.items()  # noqa: SLF001
    }


def select_opset(opset: int, offered: Collection[int]) -> int | None:
    """Return the opset among those offered whose function torch uses; None if all are too new."""
    return registration._dispatch_opset_version(opset, offered)  # noqa: SLF001


@contextmanager
def register_symbolics(functions: Mapping[str, Symbolic], opset: int) -> Iterator[None]:
    """Register functions for an opset; restore the registry when the block ends."""
    registry = registration.registry
    _remove_empty_groups()
    before = custom_symbolics()
    for name, function in functions.items():
        registry.register(name, opset, function, custom=True)
    try:
        yield
    finally:
        for name in functions:
            known = before.get((name, opset))
            if known is None:
                registry.unregister(name, opset)
            else:
                registry.register(name, opset, known, custom=True)
        _remove_empty_groups()


@contextmanager
def replace_graph_methods(
    op: Callable[..., Any], onnxscript_op: Callable[..., Any]
) -> Iterator[None]:
    """Replace `g.op` and `g.onnxscript_op`, which symbolic functions call, while the block runs."""
    with (
        patch.object(GraphContext, "op", op),
        patch.object(GraphContext, "onnxscript_op", onnxscript_op),
    ):
        yield


@contextmanager
def wrap_function_groups(wrap: Callable[[str, Any], Any]) -> Iterator[None]:
    """Let the exporter see `wrap(name, group)` instead of a group of functions, or of None."""
    registry = registration.registry
    original = registry.get_function_group

    def get_function_group(name: str) -> Any:  # noqa: ANN401
        return wrap(name, original(name))

    with patch.object(registry, "get_function_group", get_function_group):
        yield


def unpacks_constants(function: Symbolic) -> bool:
    """Return whether `symbolic_helper.parse_args` decorates the function."""
    return hasattr(function, "_arg_descriptors")


def _remove_empty_groups() -> None:
    """Remove what unregistering leaves: torch fails on an operator without any function."""
    groups = registration.registry._registry  # noqa: SLF001
    for name in [name for name, group in groups.items() if not group._functions]:  # noqa: SLF001
        del groups[name]
