"""Find torch's own definition of an operator that TorchScript's exporter has no symbolic for.

torch defines a thousand operators by others: composites in C++, the rest in torch._decomp. The
definition is captured with symbolic sizes, down to operators that the exporter does translate at
the requested opset; `None` where there is no such definition, so that the operator stays and is
refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from modelexport_exporter.decompositions.capture import CALLS
from modelexport_exporter.decompositions.torchscript.replay import replay, writes_itself
from modelexport_exporter.torch_internals import pytree
from modelexport_exporter.torch_internals.decomposition_table import decomposition_table
from modelexport_exporter.torch_internals.operators import OpOverload, schema_of
from modelexport_exporter.torch_internals.symbolic_sizes import (
    treat_0_and_1_as_any_size,
    treat_equal_sizes_as_different,
)
from modelexport_exporter.torch_internals.symbolics import is_registered
from modelexport_exporter.torch_internals.torchscript_graph import pause_tracing

_COPY = torch.ops.aten.copy_.default
Known = Callable[[str], bool]
"""Whether an operator, `aten::add`, is left for the exporter or for the library."""
_LOGICAL: dict[str, Any] = {
    "bitwise_and": torch.logical_and,
    "bitwise_or": torch.logical_or,
    "bitwise_xor": torch.logical_xor,
    "bitwise_not": torch.logical_not,
}


def has_symbolic(operator: str, opset: int) -> bool:
    """Return whether the exporter translates the operator; it names `__and__` by `__and_`."""
    name = operator.removesuffix("_") if operator.endswith("__") else operator
    return is_registered(name, opset)


def computes_tensors(overload: OpOverload) -> bool:
    """Return whether tensors are all that the operator returns."""
    returned = [str(value.type) for value in schema_of(overload).returns]
    return bool(returned) and all(kind in ("Tensor", "List[Tensor]") for kind in returned)


def own_definition(
    overload: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], known: Known
) -> Callable[[], Any] | None:
    """Return a function that computes the call by known operators; None if torch defines none."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    inputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    counts = _counts(overload, args, kwargs)

    def call(*given: Any) -> Any:  # noqa: ANN401
        rest = iter(given)
        filled = [next(rest) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        called_args, called_kwargs = pytree.tree_unflatten(filled, spec)
        return _call(overload, *called_args, **called_kwargs)

    try:
        graph = _capture(call, inputs, counts, known)
    except Exception:  # noqa: BLE001 - torch has no definition for such arguments
        return None
    return partial(replay, graph, inputs) if _all_known(graph, known) else None


def _counts(overload: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> set[int]:
    """Return the ids of tensors that stand for sizes: the tracer represents sizes as tensors."""
    found: set[int] = set()
    for position, argument in enumerate(schema_of(overload).arguments):
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        if "Tensor" not in str(argument.type):
            found |= {id(leaf) for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)}
    return found


def _call(overload: OpOverload, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    """Call the operator, by its form for dynamic sizes where the library has one."""
    replacement = _by_name().get(schema_of(overload).name)
    if replacement is not None:
        result = replacement(*args, **kwargs)
        if result is not NotImplemented:
            return result
    return overload(*args, **kwargs)


@cache
def _by_name() -> dict[str, Callable[..., Any]]:
    return dict(CALLS.values())


def _capture(
    call: Callable[..., Any], inputs: list[Tensor], counts: set[int], known: Known
) -> torch.fx.GraphModule:
    given = [int(value) if id(value) in counts else value.detach() for value in inputs]
    # Sizes that are equal, or 1, in the example may be others later.
    with pause_tracing(), treat_equal_sizes_as_different(), treat_0_and_1_as_any_size():
        capture = make_fx(call, decomposition_table=_table(known), tracing_mode="symbolic")
        graph = capture(*given)
    graph.graph.eliminate_dead_code()
    return graph


def _table(known: Known) -> dict[Any, Callable[..., Any]]:
    """Return the definitions of what is not known; torch.prims by the ATen operators they are."""
    table = {
        op: definition
        for op, definition in decomposition_table.items()
        if isinstance(op, OpOverload) and not writes_itself(op) and not known(schema_of(op).name)
    }
    for packet in vars(torch.ops.prims).values():
        implementation = getattr(packet, "impl_aten", None)
        if implementation is not None:
            table[packet.default] = implementation
    for name, logical in _LOGICAL.items():
        packet = getattr(torch.ops.aten, name)
        table.update({getattr(packet, form): _of_booleans(logical) for form in packet.overloads()})
    return table


def _of_booleans(logical: Callable[..., Any]) -> Callable[..., Any]:
    def decompose(*args: Any, **_: object) -> Any:  # noqa: ANN401
        tensors = [value for value in args if isinstance(value, Tensor)]
        if len(tensors) < len(args) or any(value.dtype != torch.bool for value in tensors):
            return NotImplemented
        return logical(*args)

    return decompose


def _all_known(graph: torch.fx.GraphModule, known: Known) -> bool:
    return all(
        _writes_whole_value(node)
        if node.target is _COPY
        else writes_itself(node.target) or _is_known(node.target, known)
        for node in graph.graph.nodes
        if node.op == "call_function" and isinstance(node.target, OpOverload)
    )


def _is_known(op: OpOverload, known: Known) -> bool:
    # Strides are those of the example: as_strided holds for its sizes alone.
    return op is not torch.ops.aten.as_strided.default and known(schema_of(op).name)


def _writes_whole_value(node: torch.fx.Node) -> bool:
    """Return whether a copy_ goes to a value that is computed here, and not read later."""
    written = node.args[0]
    if not isinstance(written, torch.fx.Node) or not isinstance(written.target, OpOverload):
        return False
    is_view = any(value.alias_info for value in schema_of(written.target).returns)
    return not is_view and all(user is node or user < node for user in written.users)
