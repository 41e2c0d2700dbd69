"""ExportedPrograms: their calls, and how operators are replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.export import ExportedProgram

from modelexport_exporter.torch_internals.export_flags import recurrent_layers_as_loops
from modelexport_exporter.torch_internals.operators import OpOverload, find_overload, schema_of

Table = dict[OpOverload, Callable[..., Any]]


def calls(program: ExportedProgram) -> Iterator[torch.fx.Node]:
    """Yield every call, in the bodies of loops and branches too."""
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            yield from (node for node in module.graph.nodes if node.op == "call_function")


def arguments(node: torch.fx.Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call, its tensors without their data."""
    given: Any = (node.args, node.kwargs)
    args, kwargs = torch.fx.node.map_arg(given, lambda argument: argument.meta.get("val"))
    return args, kwargs


def functional(target: Any) -> Any:  # noqa: ANN401
    """Return the operator of which the target is the in-place form, or the target."""
    if not isinstance(target, OpOverload):
        return target
    schema = schema_of(target)
    if not schema.is_mutable or not schema.name.endswith("_"):
        return target
    return find_overload(f"{schema.name[:-1]}.{schema.overload_name}") or target


def decompose(program: ExportedProgram, table: Table) -> ExportedProgram:
    """Return the program decomposed by the table."""
    ready = with_tensors_for_numbers(with_any_strides(program))
    with recurrent_layers_as_loops():
        result: ExportedProgram = ready.run_decompositions(table)
    return result


def with_any_strides(program: ExportedProgram) -> ExportedProgram:
    """Return the program, in which decompositions may return other strides than their operators."""
    for node in calls(program):
        if node.target is torch.ops.aten.view.default:
            node.target = torch.ops.aten.reshape.default
    return program


def with_tensors_for_numbers(program: ExportedProgram) -> ExportedProgram:
    """Return the program, in which the first operand of no operator is a number for a tensor.

    torch captures `1.0 / array` of NumPy so, and its kernels take it; the library's do not. The
    number of `x + 1` is left to them: it is not rounded to the dtype of x.
    """
    for node in calls(program):
        if not isinstance(node.target, OpOverload) or not node.args:
            continue
        first, operand = node.args[0], schema_of(node.target).arguments[0]
        if type(first) in {bool, int, float} and str(operand.type) == "Tensor":
            node.update_arg(0, _tensor_before(node, first))
    return program


def _tensor_before(node: torch.fx.Node, number: Any) -> torch.fx.Node:  # noqa: ANN401
    """Return the number as a tensor [], in the dtype that torch promotes it to with the others."""
    tensors = [value for value in arguments(node)[0] if isinstance(value, torch.Tensor)]
    dtype = torch.result_type(tensors[0], number) if tensors else torch.tensor(number).dtype
    with node.graph.inserting_before(node):
        made = node.graph.call_function(
            torch.ops.aten.scalar_tensor.default, (number,), {"dtype": dtype}
        )
    made.meta = {key: value for key, value in node.meta.items() if key != "val"}
    return made


def decline_unless(
    function: Callable[..., Any], applies: Callable[..., bool]
) -> Callable[..., Any]:
    """Return the function with the interface of a table: NotImplemented where it does not apply."""

    def decompose(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return function(*args, **kwargs) if applies(*args, **kwargs) else NotImplemented

    return decompose
