"""Fall through on the TorchScript route: a symbolic function for operators that have none.

It is also used where torch's own function rejects the arguments of a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import onnx_ir as ir
import torch

from modelexport_exporter.plugins.fall_through.operators import (
    NO_DOMAINS,
    CannotFallThroughError,
    write_node,
)
from modelexport_exporter.plugins.graph_values import constant_of, python_value, translated_schema
from modelexport_exporter.torch_internals.symbolics import (
    is_list,
    is_none,
    unpack_list,
    wrap_function_groups,
)

Symbolic = Callable[..., Any]
_PREFIX = "fall-through-"
"""Of domains while torch converts: it does not write a node of the domain `aten`."""
_SUFFIXES: dict[type, str] = {int: "i", float: "f", str: "s"}


class _Group:
    """torch's functions for an operator, and falling through where they fail."""

    def __init__(self, name: str, group: Any) -> None:  # noqa: ANN401
        self._name = name
        self._group = group

    def get(self, opset: int) -> Symbolic:
        """Return torch's function, or the user's, guarded; or one that falls through."""
        known = self._group.get(opset) if self._group is not None else None
        return _guard(known)

    def get_min_supported(self) -> int:
        """Return the oldest opset that torch has a function for."""
        return int(self._group.get_min_supported()) if self._group is not None else 1


@contextmanager
def let_operators_fall_through() -> Iterator[None]:
    """Write every operator that cannot be translated as a node of a custom domain."""

    def wrap(name: str, group: Any) -> Any:  # noqa: ANN401
        return group if name.partition("::")[0] in NO_DOMAINS else _Group(name, group)

    with wrap_function_groups(wrap):
        yield


def _guard(known: Symbolic | None) -> Symbolic:
    def symbolic(g: Any, *inputs: Any, **attributes: Any) -> Any:  # noqa: ANN401
        if known is None:
            return write_call(g, inputs)
        try:
            return known(g, *inputs, **attributes)
        except torch.onnx.errors.OnnxExporterError:
            try:
                return write_call(g, inputs)
            except CannotFallThroughError:
                pass
            raise

    return symbolic


def write_call(g: Any, inputs: tuple[Any, ...]) -> Any:  # noqa: ANN401
    """Add the node for the operator that is translated, and return its outputs."""
    node = g.original_node
    schema = translated_schema(g)
    if schema is None:
        raise CannotFallThroughError(f"{node.kind()} has no schema that its inputs fit")
    outputs = list(node.outputs())
    if any(not isinstance(output.type(), torch.TensorType) for output in outputs):
        raise CannotFallThroughError(f"{schema.name} returns something other than tensors")
    values = {
        argument.name: _argument(value, str(argument.real_type))
        for argument, value in zip(schema.arguments, inputs, strict=False)
    }
    written = write_node(schema, values, torch.Value)
    results = g.op(
        f"{_PREFIX}{written.domain}::{written.op_type}",
        *written.inputs,
        outputs=len(outputs),
        **{f"{name}_{_suffix(value)}": value for name, value in written.attributes.items()},
    )
    made = results if isinstance(results, tuple) else (results,)
    for result, output in zip(made, outputs, strict=True):
        result.setType(output.type())
    return results


def restore_domains(model: ir.Model) -> None:
    """Give the nodes that fell through the domain of their operator."""
    for node in model.graph.all_nodes():
        node.domain = node.domain.removeprefix(_PREFIX)
    for domain in [name for name in model.opset_imports if name.startswith(_PREFIX)]:
        del model.opset_imports[domain]
        model.opset_imports[domain.removeprefix(_PREFIX)] = 1


def _argument(value: Any, kind: str) -> Any:  # noqa: ANN401
    if not isinstance(value, torch.Value):
        return value
    if is_none(value):
        return None
    if "Tensor" in kind and "List" not in kind:
        return value
    found = python_value(value, kind)
    if isinstance(found, torch.Value) and is_list(found):
        items = unpack_list(found)
        return [None if constant_of(item) is None else item for item in items]
    return found


def _suffix(value: Any) -> str:  # noqa: ANN401
    item = value[0] if isinstance(value, list) and value else value
    return _SUFFIXES.get(type(item), "i")
