"""The private parts of torch that know which operators have a translation, pinned by tests."""

from __future__ import annotations

import importlib
from collections.abc import Collection
from functools import cache
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch._ops import HigherOrderOperator, OpOverload
from torch.export import ExportedProgram
from torch.onnx._internal.exporter import _dispatching, _fx_passes, _registration
from torch.onnx._internal.torchscript_exporter.registration import SymbolicRegistry, registry

OLDEST_OPSET = 18
"""torch.export's route translates to this opset at least; onnx converts the file to older ones."""
OLDEST_SYMBOLIC = 7
NEWEST_SYMBOLIC = 20

PYTHON_OP = "prim::PythonOp"
Target = OpOverload | HigherOrderOperator
Registry = _registration.ONNXRegistry


@cache
def onnx_registry(opset: int) -> Registry:
    """Return torch.onnx's functions for torch.export's route."""
    return Registry.from_torchlib(opset_version=max(opset, OLDEST_OPSET))


def decompose(program: ExportedProgram, opset: int) -> torch.fx.GraphModule:
    """Return the graph that torch.onnx would translate, node by node."""
    decomposed = _fx_passes.decompose_with_registry(program, onnx_registry(opset))
    return _fx_passes.remove_assertion_nodes(decomposed.graph_module)


def translates(node: torch.fx.Node, opset: int, also: Collection[object] = ()) -> bool:
    """Tell whether torch.onnx translates a node; `also`: targets that plugins translate."""
    if not isinstance(node.target, Target) or type(node.target).__name__ == "WithEffects":
        return True  # arithmetic on sizes; a wrapper that orders checks
    if node.target in also or str(node.target) in {str(target) for target in also}:
        return True
    return _dispatching.dispatch(node, onnx_registry(opset))[0] is not None


def dynamo_translates(name: str, opset: int = OLDEST_OPSET) -> bool:
    """Tell whether torch.export's route has a function of its own for an operator."""
    return bool(onnx_registry(opset).functions.get(name.removesuffix(".default")))


def translates_complex(name: str, opset: int = OLDEST_OPSET) -> bool:
    """Tell whether that function, or another of the operator, takes complex tensors."""
    found = onnx_registry(opset).functions.get(name.removesuffix(".default"), ())
    return any(function.is_complex for function in found)


@cache
def _symbolics() -> SymbolicRegistry:
    """Return the symbolic functions of all opsets; torch imports them at its first export only."""
    for opset in range(OLDEST_SYMBOLIC, NEWEST_SYMBOLIC + 1):
        importlib.import_module(f"torch.onnx._internal.torchscript_exporter.symbolic_opset{opset}")
    return registry


def script_translates(name: str, opset: int) -> bool:
    """Tell whether the TorchScript route has a symbolic function, `name` without its overload."""
    return _symbolics().is_registered_op(name, opset)


def first_script_opset(name: str) -> int | None:
    """Return the opset from which on the TorchScript route has a symbolic function."""
    group = _symbolics().get_function_group(name)
    return None if group is None else int(group.get_min_supported())


def torch_decomposes(name: str) -> bool:
    """Tell whether torch computes an operator by smaller ATen operators, not by prims alone."""
    overload = find_overload(name)
    function: Any = decomposition_table.get(overload) if overload is not None else None
    return function is not None and "_refs" not in str(getattr(function, "__module__", ""))


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


def has_fake_kernel(overload: OpOverload) -> bool:
    """Tell whether torch.export can run an operator without its data."""
    keys = ("Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd")
    name: str = overload.name()  # type: ignore[no-untyped-call]
    registered = any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in keys)  # noqa: SLF001
    entry = torch._library.simple_registry.singleton.find(overload._schema.name)  # noqa: SLF001
    return registered or entry.fake_impl.kernel is not None


def inline_functions(graph: torch.Graph) -> torch.Graph:
    """Return a copy of a TorchScript graph with calls and autograd functions unfolded."""
    copied: torch.Graph = graph.copy()
    torch._C._jit_pass_inline(copied)  # noqa: SLF001
    torch._C._jit_pass_onnx_autograd_function_process(copied)  # noqa: SLF001
    return copied
