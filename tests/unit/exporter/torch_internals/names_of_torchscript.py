"""What must be true of the private names of TorchScript, its exporter and its registry."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Callable
from typing import Any

import torch
from torch.onnx._internal.torchscript_exporter import registration

from unit.exporter.torch_internals.name_checks import IMAGE, X, imports, parsed, takes

GRAPH = torch._C.parse_ir("""
    graph(%x : Float(2, 3), %whole : Long(2)):
      %none : NoneType = prim::Constant()
      %number : int = prim::Constant[value=7]()
      %list : int[] = prim::ListConstruct(%number, %number)
      return (%x, %whole, %none, %list)
""")
TENSOR, WHOLE, NONE, LIST = GRAPH.outputs()
NUMBER = next(iter(LIST.node().inputs()))
SYMBOLICS = "torch.onnx._internal.torchscript_exporter"


def is_constant_in_trace(value_of: Callable[[torch.Tensor], Any]) -> bool:
    kinds: list[str] = []

    def forward(x: torch.Tensor) -> torch.Tensor:
        kinds.extend(value_of(entry).node().kind() for entry in (x, IMAGE))
        return x + 1

    torch.jit.trace(forward, X, check_trace=False)  # type: ignore[no-untyped-call]
    return kinds == ["prim::Param", "prim::Constant"]


def inlines(inline: Callable[[torch.Graph], None]) -> bool:
    module = torch.jit.script(torch.nn.Sequential(torch.nn.ReLU()))
    graph = module.graph.copy()
    inline(graph)
    return "prim::CallMethod" not in str(graph) and "prim::CallMethod" in str(module.graph)


def unregisters(registry: registration.SymbolicRegistry) -> bool:
    registry.register("test::name", 9, print, custom=True)
    group = registry.get_function_group("test::name")
    assert group is not None
    known = group.get(11) is print and group.get_min_supported() == 9
    registry.unregister("test::name", 9)
    return known and not group._functions


def is_gone(name: str) -> bool:
    """Return whether torch has no module of a former name."""
    return importlib.util.find_spec(name) is None


PROPERTIES: dict[str, Callable[[Any], object]] = {
    "'_arg_descriptors'": lambda name: hasattr(parsed, name),
    "'torch.onnx._globals'": is_gone,
    "'torch.onnx._internal._beartype'": is_gone,
    "'torch.onnx._internal.jit_utils'": is_gone,
    "'torch.onnx._internal.registration'": is_gone,
    f"'{SYMBOLICS}'": lambda name: all(imports(f"{name}.symbolic_opset{n}") for n in range(7, 21)),
    "'torch.onnx._type_utils'": is_gone,
    "group._functions._overrides": lambda overrides: overrides == {9: print},
    "torch._C._get_tracing_state": lambda state: state() is None,
    "torch._C._get_value_trace": is_constant_in_trace,
    "torch._C._jit_pass_inline": inlines,
    "torch._C._jit_pass_lower_all_tuples": lambda lower: lower(GRAPH.copy()) is None,
    "torch._C._jit_pass_onnx_autograd_function_process": lambda process: (
        process(GRAPH.copy()) is None
    ),
    "torch._C._set_tracing_state": lambda set_state: set_state(None) is None,
    "torch._tensor": lambda module: module.has_torch_function_unary,
    "torch.jit._builtins._get_builtin_table": lambda table: table()[id(torch.relu)] == "aten::relu",
    "torch.jit._trace.TracerWarning": lambda kind: issubclass(kind, Warning),
    f"{SYMBOLICS}._globals.GLOBALS": lambda settings: (
        settings.export_onnx_opset_version
        and settings.operator_export_type
        and settings.training_mode
    ),
    f"{SYMBOLICS}._type_utils.JitScalarType": lambda kind: (
        kind.from_value(TENSOR, kind.UNDEFINED).dtype() == torch.float32
        and kind(6) is kind.FLOAT is kind.from_value(None, kind.FLOAT)
    ),
    f"{SYMBOLICS}.jit_utils.GraphContext": lambda kind: (
        takes(kind.op, 1, "Add", 2, 3, outputs=1, axis_i=1)
        and takes(kind.onnxscript_op, 1, print, 2, outputs=1, axis_i=1)
        and {"params_dict", "env", "original_node", "block"}
        <= {entry.name for entry in dataclasses.fields(kind)}
    ),
    f"{SYMBOLICS}.registration._dispatch_opset_version": lambda select: (
        (select(17, [9, 11, 18]), select(17, [18])) == (11, None)
    ),
    f"{SYMBOLICS}.registration.registry._registry.items": lambda items: all(
        hasattr(group, "_functions") for _, group in items()
    ),
    f"{SYMBOLICS}.registration.registry.get_function_group": lambda get: (
        unregisters(get.__self__) and get("aten::no_such") is None
    ),
    f"{SYMBOLICS}.registration.registry.is_registered_op": lambda is_registered: (
        is_registered("aten::relu", 17) and not is_registered("aten::no_such", 17)
    ),
    f"{SYMBOLICS}.symbolic_helper._get_tensor_rank": lambda rank: rank(TENSOR) == 2,
    f"{SYMBOLICS}.symbolic_helper._get_tensor_dim_size": lambda size: size(TENSOR, 1) == 3,
    f"{SYMBOLICS}.symbolic_helper._if_scalar_type_as": lambda cast: takes(cast, X, TENSOR),
    f"{SYMBOLICS}.symbolic_helper._is_fp": lambda is_fp: is_fp(TENSOR) and not is_fp(WHOLE),
    f"{SYMBOLICS}.symbolic_helper._is_none": lambda is_none: is_none(NONE) and not is_none(TENSOR),
    f"{SYMBOLICS}.symbolic_helper._is_packed_list": lambda is_list: (
        is_list(LIST) and not is_list(TENSOR)
    ),
    f"{SYMBOLICS}.symbolic_helper._node_get": lambda get: get(NUMBER.node(), "value") == 7,
    f"{SYMBOLICS}.symbolic_helper._maybe_cast_to_type": lambda cast: takes(cast, 1, TENSOR, 2),
    f"{SYMBOLICS}.symbolic_helper._type_promote_from_values": lambda promote: (
        promote(TENSOR, WHOLE).dtype() == torch.float32
    ),
    f"{SYMBOLICS}.symbolic_helper._parse_arg": lambda parse: (
        takes(parse, NUMBER, "i") and parse(7, "i") == 7
    ),
    f"{SYMBOLICS}.symbolic_helper._slice_helper": lambda write: takes(
        write, 1, TENSOR, axes=[-1], starts=[0], ends=[1]
    ),
    f"{SYMBOLICS}.symbolic_helper._unpack_list": lambda unpack: len(unpack(LIST)) == 2,
    f"{SYMBOLICS}.symbolic_opset9.__contains_": lambda write: takes(write, 1, LIST, NUMBER),
    f"{SYMBOLICS}.symbolic_opset11.add": lambda write: takes(write, 1, TENSOR, NUMBER, alpha=None),
    f"{SYMBOLICS}.utils._trigger_symbolic_function_registration": lambda register: (
        register() is None and registration.registry.is_registered_op("aten::relu", 7)
    ),
}
"""What must be true of each name. In quotes: a name that is looked up as text."""
