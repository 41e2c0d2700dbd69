"""Find torch's own definition of an operator that TorchScript's exporter has no symbolic for.

torch defines a thousand operators by others: composites in C++, the rest in torch._decomp. The
definition is captured with symbolic sizes, down to operators that the exporter does translate at
the requested opset; `None` where there is no such definition, so that the operator stays and is
refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch.fx.experimental import _config as symbolic_shapes_config
from torch.fx.experimental.proxy_tensor import make_fx
from torch.onnx._internal.torchscript_exporter.registration import registry
from torch.utils import _pytree as pytree

from modelexport_exporter.decompositions.capture import pools  # noqa: F401 (adds to CALLS)
from modelexport_exporter.decompositions.capture.calls import CALLS
from modelexport_exporter.decompositions.torchscript.replay import replay, writes_itself

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
    return bool(registry.is_registered_op(name, opset))


def computes_tensors(overload: OpOverload) -> bool:
    """Return whether tensors are all that the operator returns."""
    returned = [str(value.type) for value in overload._schema.returns]  # noqa: SLF001
    return bool(returned) and all(kind in ("Tensor", "List[Tensor]") for kind in returned)


def own_definition(
    overload: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], known: Known
) -> Callable[[], Any] | None:
    """Return what computes the call by operators that are known; None where torch has no such."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    inputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    counts = _counts(overload, args, kwargs)

    def call(*given: Any) -> Any:  # noqa: ANN401
        rest = iter(given)
        filled = [next(rest) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        called_args, called_kwargs = pytree.tree_unflatten(filled, spec)
        return _defined(overload, *called_args, **called_kwargs)

    try:
        graph = _captured(call, inputs, counts, known)
    except Exception:  # noqa: BLE001 - torch has no definition for such arguments
        return None
    return partial(replay, graph, inputs) if _all_known(graph, known) else None


def _counts(overload: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> set[int]:
    """Return the ids of what the tracer shows as tensors and the operator takes as sizes."""
    found: set[int] = set()
    for position, argument in enumerate(overload._schema.arguments):  # noqa: SLF001
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        if "Tensor" not in str(argument.type):
            found |= {id(leaf) for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)}
    return found


def _defined(overload: OpOverload, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    """Call the operator, by its form for dynamic sizes where the library has one."""
    replacement = _by_name().get(overload._schema.name)  # noqa: SLF001
    if replacement is not None:
        result = replacement(*args, **kwargs)
        if result is not NotImplemented:
            return result
    return overload(*args, **kwargs)


@cache
def _by_name() -> dict[str, Callable[..., Any]]:
    return dict(CALLS.values())


def _captured(
    call: Callable[..., Any], inputs: list[Tensor], counts: set[int], known: Known
) -> torch.fx.GraphModule:
    given = [int(value) if id(value) in counts else value.detach() for value in inputs]
    # Sizes that are equal, or 1, in the example may be others later.
    sizes = symbolic_shapes_config.patch(use_duck_shape=False, backed_size_oblivious=True)  # type: ignore[attr-defined]
    with _not_recorded(), sizes:
        capture = make_fx(call, decomposition_table=_table(known), tracing_mode="symbolic")
        graph = capture(*given)
    graph.graph.eliminate_dead_code()
    return graph


@contextmanager
def _not_recorded() -> Iterator[None]:
    """Hide what is computed from a tracer that is at work."""
    state = torch._C._get_tracing_state()  # noqa: SLF001
    torch._C._set_tracing_state(None)  # type: ignore[attr-defined]  # noqa: SLF001
    try:
        yield
    finally:
        torch._C._set_tracing_state(state)  # type: ignore[attr-defined]  # noqa: SLF001


def _table(known: Known) -> dict[Any, Callable[..., Any]]:
    """Return the definitions of what is not known; torch.prims by the ATen operators they are."""
    table = {
        op: definition
        for op, definition in decomposition_table.items()
        if isinstance(op, OpOverload) and not writes_itself(op) and not known(op._schema.name)  # noqa: SLF001
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
    return op is not torch.ops.aten.as_strided.default and known(op._schema.name)  # noqa: SLF001


def _writes_whole_value(node: torch.fx.Node) -> bool:
    """Return whether a copy_ goes to a value that is computed here, and read by nobody later."""
    written = node.args[0]
    if not isinstance(written, torch.fx.Node) or not isinstance(written.target, OpOverload):
        return False
    is_view = any(value.alias_info for value in written.target._schema.returns)  # noqa: SLF001
    return not is_view and all(user is node or user < node for user in written.users)
