"""torch's operators as Python objects: their types, their schemas, and their composite kernels.

`torch.ops.aten.add.Tensor` is an OpOverload of the OpOverloadPacket `torch.ops.aten.add`. torch
documents the objects, but neither their classes nor an attribute with the schema.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch._higher_order_ops.scan import scan
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket

__all__ = [
    "HigherOrderOperator",
    "OpOverload",
    "OpOverloadPacket",
    "composite_definition",
    "find_overload",
    "has_fake_kernel",
    "is_composite",
    "is_of_other_library",
    "resolve_overload",
    "scan",
    "schema_of",
    "schemas_of_kind",
]

_OF_TORCH = frozenset({"aten", "prim", "prims", "quantized"})


def schema_of(operator: OpOverload) -> torch.FunctionSchema:
    """Return the name, the arguments and the results of an operator."""
    return operator._schema  # noqa: SLF001


def find_overload(name: str) -> OpOverload | None:
    """Return torch's operator of a name such as `aten::erfinv.default`, if it is registered."""
    namespace, _, rest = name.partition("::")
    operator, _, overload = rest.partition(".")
    try:
        packet = getattr(getattr(torch.ops, namespace), operator)
        found = getattr(packet, overload or "default")
    except (AttributeError, RuntimeError):
        return None
    return found if isinstance(found, OpOverload) else None


def resolve_overload(
    operator: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> OpOverload | None:
    """Return the overload of `aten::add` that takes the arguments."""
    packet = getattr(torch.ops.aten, operator.removeprefix("aten::"), None)
    if not isinstance(packet, OpOverloadPacket):
        return None
    try:
        name = torch._C._jit_resolve_packet(operator, *args, **kwargs)  # noqa: SLF001
    except RuntimeError:
        return None
    overload: OpOverload = getattr(packet, name)
    return overload


def schemas_of_kind(kind: str) -> list[torch.FunctionSchema]:
    """Return the schemas of all overloads of a TorchScript node's kind, `aten::add`."""
    return torch._C._jit_get_schemas_for_operator(kind)  # noqa: SLF001


def is_composite(operator: OpOverload) -> bool:
    """Return whether torch defines the operator by others in C++."""
    return _has_kernel(operator, "CompositeImplicitAutograd")


def is_of_other_library(operator: OpOverload) -> bool:
    """Return whether the operator's kernel was compiled by another library than torch."""
    return operator.namespace not in _OF_TORCH and _has_kernel(operator, "CPU")


def composite_definition(operator: OpOverload) -> Callable[..., Any]:
    """Return torch's C++ definition of a composite operator, past any decomposition table."""
    return partial(operator._op_dk, torch.DispatchKey.CompositeImplicitAutograd)  # noqa: SLF001


def has_fake_kernel(operator: OpOverload) -> bool:
    """Return whether torch.export can run an operator without its data."""
    keys = ("Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd")
    registered = any(_has_kernel(operator, key) for key in keys)
    entry = torch._library.simple_registry.singleton.find(operator._schema.name)  # noqa: SLF001
    return registered or entry.fake_impl.kernel is not None


def _has_kernel(operator: OpOverload, key: str) -> bool:
    name: str = operator.name()  # type: ignore[no-untyped-call]
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)  # noqa: SLF001
