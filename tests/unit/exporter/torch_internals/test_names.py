"""One test for each private name: a release of torch that removes or changes it fails here.

The table has a row for each name that `private_names` finds in torch_internals, and no other.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sympy  # type: ignore[import-untyped]
import torch
from onnxscript.rewriter import _matcher
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.modules import transformer
from torch.onnx._internal.exporter import _building, _flags, _registration
from torch.onnx._internal.torchscript_exporter import registration, symbolic_helper

from modelexport_exporter.torch_internals.decomposition_table import decomposition_table
from modelexport_exporter.torch_internals.operators import OpOverload
from modelexport_exporter.torch_internals.symbolics import import_symbolics
from private_names import ALLOWED, find_private_names

X = torch.arange(6.0).reshape(1, 2, 3)
IMAGE, VOLUME = torch.ones(1, 1, 4, 4), torch.ones(1, 1, 4, 4, 4)
GRAPH = torch._C.parse_ir("""
    graph(%x : Float(2, 3), %whole : Long(2)):
      %none : NoneType = prim::Constant()
      %number : int = prim::Constant[value=7]()
      %list : int[] = prim::ListConstruct(%number, %number)
      return (%x, %whole, %none, %list)
""")
TENSOR, WHOLE, NONE, LIST = GRAPH.outputs()
NUMBER = next(iter(LIST.node().inputs()))
TILE = torch.ops.aten.tile.default
SYMBOLICS = "torch.onnx._internal.torchscript_exporter"
TRANSLATION = "torch.onnx._internal.exporter"

OBJECTS: dict[str, Any] = {
    "func": torch.ops.aten.add_.Tensor,
    "matcher": _matcher.SimplePatternMatcher,
    "operator": TILE,
    "tensor": torch.ones(2)[:1],
    "module": torch.nn.BatchNorm1d(2),
    "versioned": torch.nn.Linear(1, 1).state_dict(),
}
"""Examples of the objects whose private attributes are read, by the name of the variable."""


@symbolic_helper.parse_args("v")
def parsed(_g: object, x: object) -> object:
    return x


def program(module: torch.nn.Module | None = None) -> torch.export.ExportedProgram:
    return torch.export.export(module or torch.nn.Softshrink(), (X,))


def takes(function: Callable[..., Any], *args: object, **named: object) -> bool:
    """Return whether the function can be called so; fail with the reason if not."""
    inspect.signature(function).bind(*args, **named)
    return True


def parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def is_constant_in_trace(value_of: Callable[[torch.Tensor], Any]) -> bool:
    kinds: list[str] = []

    def forward(x: torch.Tensor) -> torch.Tensor:
        kinds.extend(value_of(entry).node().kind() for entry in (x, IMAGE))
        return x + 1

    torch.jit.trace(forward, X, check_trace=False)  # type: ignore[no-untyped-call]
    return kinds == ["prim::Param", "prim::Constant"]


def sees_the_cast(mode: type) -> bool:
    seen: list[str] = []

    class Mode(mode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, _: object, args: Any, kwargs: Any = None) -> object:  # noqa: ANN401
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Mode():
        X.double()
    return seen == ["aten._to_copy.default"]


def replaces(operator: OpOverload) -> Callable[[Any], bool]:
    def check(patch: Callable[[], Any]) -> bool:
        before = decomposition_table.get(operator)
        with patch():
            return decomposition_table.get(operator) is not before

    return check


def patches(patch: Callable[..., Any]) -> bool:
    from torch.fx.experimental import _config

    before = (_config.backed_size_oblivious, _config.use_duck_shape)
    with patch(backed_size_oblivious=True), patch(use_duck_shape=False):
        changed = (_config.backed_size_oblivious, _config.use_duck_shape)
    after = (_config.backed_size_oblivious, _config.use_duck_shape)
    return changed == (True, False) and after == before == (False, True)


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


def is_false_of(check: Callable[[bool], None]) -> bool:
    check(True)
    with pytest.raises(RuntimeError):
        check(False)
    return True


def pools(shape: tuple[int, ...], x: torch.Tensor) -> Callable[[Any], bool]:
    def check(pool: Callable[..., Any]) -> bool:
        pooled = pool(x, [2] * (x.dim() - 2))
        return all(
            part.shape == shape for part in (pooled if isinstance(pooled, tuple) else (pooled,))
        )

    return check


def is_gone(name: str) -> bool:
    """Return whether torch has no module of a former name."""
    return importlib.util.find_spec(name) is None


def imports(name: str) -> bool:
    return bool(importlib.import_module(name))


def translates(dispatch: Callable[..., Any]) -> bool:
    registry = registry_of_torch()
    found = []
    for module in (torch.nn.SiLU(), torch.nn.Softshrink()):
        graph = program(module).graph
        node = next(node for node in graph.nodes if node.op == "call_function")
        found.append(dispatch(node, registry)[0] is not None)
    return found == [True, False]


def registry_of_torch() -> _registration.ONNXRegistry:
    return _registration.ONNXRegistry.from_torchlib(opset_version=18)


def makes_a_registry(from_torchlib: Callable[..., Any]) -> bool:
    registry = from_torchlib(opset_version=18)
    registry.register_op(TILE, parsed)
    (entry, *_) = registry.functions["aten::relu"]
    return "aten::tile" in str(registry.functions) and not entry.is_complex


def has_a_version(state: str) -> bool:
    return bool(getattr(torch.nn.BatchNorm1d(1).state_dict(), state)[""]["version"] == 2)


PROPERTIES: dict[str, Callable[[Any], object]] = {
    "'_arg_descriptors'": lambda name: hasattr(parsed, name),
    "'_detect_is_causal_mask'": lambda name: (
        parameters(getattr(transformer, name)) == ["mask", "is_causal", "size"]
    ),
    "'_determine_input_dtype'": lambda name: hasattr(_building, name),
    "'_in_spec'": lambda name: getattr(program().module(), name).num_leaves == 1,
    "'_is_onnx_exporting'": lambda name: getattr(_flags, name) is False,
    "'_metadata'": has_a_version,
    "'torch._dynamo'": imports,
    "torch._subclasses.fake_tensor.FakeCopyMode": lambda mode: takes(mode, object()),
    "torch._subclasses.fake_tensor.FakeTensor": lambda kind: issubclass(kind, torch.Tensor),
    "torch._subclasses.fake_tensor.FakeTensorMode.dispatch": lambda dispatch: (
        takes(FakeTensorMode, allow_non_fake_inputs=True)
        and takes(dispatch, object(), object(), (), (), {})
    ),
    "'torch.export._trace'": imports,
    "'torch.onnx._globals'": is_gone,
    "'torch.onnx._internal._beartype'": is_gone,
    "'torch.onnx._internal.jit_utils'": is_gone,
    "'torch.onnx._internal.registration'": is_gone,
    f"'{SYMBOLICS}'": lambda name: all(imports(f"{name}.symbolic_opset{n}") for n in range(7, 21)),
    "'torch.onnx._type_utils'": is_gone,
    "_enabled=": lambda _: torch.backends.mkldnn.set_flags(_enabled=True)[0] is True,  # type: ignore[no-untyped-call]
    "group._functions._overrides": lambda overrides: overrides == {9: print},
    "matcher._match_constant": lambda match: takes(match, 1, 2, 3),
    "module._buffers": lambda buffers: "running_mean" in buffers,
    "module._non_persistent_buffers_set": lambda names: names == set(),
    "onnxscript.rewriter._basics.MatchResult": lambda result: not result().fail("why"),
    "onnxscript.rewriter._matcher.SimplePatternMatcher": lambda matcher: (
        takes(matcher.match, matcher, 1, 2, 3, tracer=None)
        and issubclass(matcher, _matcher.PatternMatcher)
    ),
    "operator._op_dk": lambda call: (
        call(torch.DispatchKey.CompositeImplicitAutograd, X, [2]).shape == (1, 2, 6)
    ),
    "operator._schema": lambda schema: (schema.name, len(schema.arguments)) == ("aten::tile", 2),
    "tensor._is_view": lambda is_view: is_view() and not torch.ones(1)._is_view(),
    "tensor._version": lambda version: version == 0 and torch.ones(1).add_(1)._version == 1,
    "torch._C._dispatch_has_kernel_for_dispatch_key": lambda has: (
        has("aten::tile", "CompositeImplicitAutograd")
        and not has("aten::relu", "CompositeImplicitAutograd")
    ),
    "torch._C._get_tracing_state": lambda state: state() is None,
    "torch._C._get_value_trace": is_constant_in_trace,
    "torch._C._jit_get_schemas_for_operator": lambda schemas: (
        "Tensor" in {schema.overload_name for schema in schemas("aten::add")}
    ),
    "torch._C._jit_pass_inline": inlines,
    "torch._C._jit_pass_onnx_autograd_function_process": lambda process: (
        process(GRAPH.copy()) is None
    ),
    "torch._C._jit_resolve_packet": lambda resolve: resolve("aten::add", X, X) == "Tensor",
    "torch._C._nn.adaptive_avg_pool2d": pools((1, 1, 2, 2), IMAGE),
    "torch._C._nn.adaptive_avg_pool3d": pools((1, 1, 2, 2, 2), VOLUME),
    "torch._C._nn.adaptive_max_pool2d": pools((1, 1, 2, 2), IMAGE),
    "torch._C._nn.adaptive_max_pool3d": pools((1, 1, 2, 2, 2), VOLUME),
    "torch._C._nn.max_pool2d_with_indices": pools((1, 1, 2, 2), IMAGE),
    "torch._C._nn.max_pool3d_with_indices": pools((1, 1, 2, 2, 2), VOLUME),
    "torch._C._set_tracing_state": lambda set_state: set_state(None) is None,
    "torch._check": is_false_of,
    "torch._decomp.decomposition_table.get": lambda get: torch.allclose(
        get(torch.ops.aten.silu.default)(X), torch.nn.functional.silu(X)
    ),
    "torch._higher_order_ops.scan.scan": lambda scan: takes(scan, print, [X], X, dim=0, reverse=1),
    "torch._library.simple_registry.singleton.find": lambda find: (
        find("aten::relu").fake_impl.kernel is None
    ),
    "torch._ops.HigherOrderOperator": lambda kind: isinstance(torch.ops.higher_order.cond, kind),
    "torch._ops.OpOverload": lambda kind: isinstance(TILE, kind) and TILE.name() == "aten::tile",
    "torch._ops.OpOverloadPacket": lambda kind: (
        isinstance(TILE.overloadpacket, kind) and TILE.overloadpacket.overloads() == ["default"]
    ),
    "torch._tensor": lambda module: module.has_torch_function_unary,
    "torch.distributed.checkpoint.filesystem._StorageInfo": lambda kind: (
        {"relative_path", "offset", "length"} <= {entry.name for entry in dataclasses.fields(kind)}
    ),
    "torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING": lambda kind: kind(0),
    "torch.export._patches.register_gru_while_loop_decomposition": replaces(
        torch.ops.aten.gru.input
    ),
    "torch.export._patches.register_lstm_while_loop_decomposition": replaces(
        torch.ops.aten.lstm.input
    ),
    "torch.fx.experimental._config.patch": patches,
    "torch.jit._builtins._get_builtin_table": lambda table: table()[id(torch.relu)] == "aten::relu",
    "torch.jit._trace.TracerWarning": lambda kind: issubclass(kind, Warning),
    f"{TRANSLATION}._core.current_tracer": lambda tracer: tracer is None,
    f"{TRANSLATION}._dispatching.dispatch": translates,
    f"{TRANSLATION}._flags": lambda flags: flags is _flags,
    f"{TRANSLATION}._fx_passes.decompose_with_registry": lambda decompose: (
        "softshrink" not in str(decompose(program(), registry_of_torch()).graph)
    ),
    f"{TRANSLATION}._fx_passes.remove_assertion_nodes": lambda remove: (
        remove(program().graph_module).graph
    ),
    f"{TRANSLATION}._registration.ONNXRegistry.from_torchlib": makes_a_registry,
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
    f"{SYMBOLICS}.symbolic_helper._get_tensor_dim_size": lambda size: size(TENSOR, 1) == 3,
    f"{SYMBOLICS}.symbolic_helper._if_scalar_type_as": lambda cast: takes(cast, X, TENSOR),
    f"{SYMBOLICS}.symbolic_helper._is_fp": lambda is_fp: is_fp(TENSOR) and not is_fp(WHOLE),
    f"{SYMBOLICS}.symbolic_helper._is_none": lambda is_none: is_none(NONE) and not is_none(TENSOR),
    f"{SYMBOLICS}.symbolic_helper._is_packed_list": lambda is_list: (
        is_list(LIST) and not is_list(TENSOR)
    ),
    f"{SYMBOLICS}.symbolic_helper._node_get": lambda get: get(NUMBER.node(), "value") == 7,
    f"{SYMBOLICS}.symbolic_helper._slice_helper": lambda write: takes(
        write, 1, TENSOR, axes=[-1], starts=[0], ends=[1]
    ),
    f"{SYMBOLICS}.symbolic_helper._unpack_list": lambda unpack: len(unpack(LIST)) == 2,
    f"{SYMBOLICS}.symbolic_opset9.__contains_": lambda write: takes(write, 1, LIST, NUMBER),
    f"{SYMBOLICS}.utils._trigger_symbolic_function_registration": lambda register: (
        register() is None and registration.registry.is_registered_op("aten::relu", 7)
    ),
    "tensor._base": lambda base: base.shape == (2,),
    "torch._sym_sqrt": lambda root: root(9) == 3.0,
    "torch.onnx._internal.exporter._building._determine_input_dtype": lambda determine: (
        parameters(determine) == ["param", "arg", "type_binding"]
    ),
    "torch.serialization._get_layout": lambda get: get("torch.strided") is torch.strided,
    "torch.utils._python_dispatch.TorchDispatchMode": sees_the_cast,
    "torch.utils._pytree.BUILTIN_TYPES": lambda kinds: {dict, list, tuple} <= set(kinds),
    "torch.utils._pytree.SUPPORTED_NODES": lambda nodes: nodes[list].unflatten_fn([1], None) == [1],
    "torch.utils._pytree.TreeSpec": lambda kind: all(
        hasattr(kind, name) for name in ("is_leaf", "children", "num_leaves")
    ),
    "torch.utils._pytree.tree_flatten": lambda flatten: flatten({"b": [1, None]})[0] == [1, None],
    "torch.utils._pytree.tree_leaves": lambda leaves: leaves([{"b": 1, "a": 2}, 3]) == [1, 2, 3],
    "torch.utils._pytree.tree_map": lambda map_: map_(str, (1, [2])) == ("1", ["2"]),
    "torch.utils._pytree.tree_unflatten": lambda unflatten: (
        unflatten([1, 2], torch.utils._pytree.tree_flatten(((0,), [0]))[1]) == ((1,), [2])
    ),
    "torch.utils._sympy.printers.PythonPrinter": lambda printer: (
        printer().doprint(sympy.Ne(sympy.Symbol("n"), 50)) == "n != 50"
    ),
    "versioned._metadata": lambda versions: versions[""] == {"version": 1},
}
"""What must be true of each name. In quotes: a name that is looked up as text."""


def resolve(name: str) -> Any:  # noqa: ANN401
    if name.startswith("'"):
        return name.strip("'")
    root, *attributes = name.split(".")
    if root in OBJECTS:
        found = OBJECTS[root]
    elif root in {"torch", "onnxscript"}:
        found = importlib.import_module(root)
    else:
        return name
    path = root
    for attribute in attributes:
        path = f"{path}.{attribute}"
        try:
            found = importlib.import_module(path)
        except ModuleNotFoundError:
            found = getattr(found, attribute)
    return found


def names_in_use() -> set[str]:
    """Return the names of the room, of `a.b` and `a.b.c` the longer one only."""
    found = {
        use.name for path in ALLOWED.glob("*.py") for use in find_private_names(path.read_text())
    }
    return {name for name in found if not any(other.startswith(f"{name}.") for other in found)}


@pytest.fixture(autouse=True, scope="module")
def _registered_symbolics() -> Iterator[None]:
    import_symbolics()
    registration.registry.register("test::group", 9, print, custom=True)
    OBJECTS["group"] = registration.registry.get_function_group("test::group")
    yield
    registration.registry.unregister("test::group", 9)
    del registration.registry._registry["test::group"]


@pytest.mark.parametrize("name", PROPERTIES)
def test_is_what_we_rely_on(name: str) -> None:
    assert PROPERTIES[name](resolve(name))


def test_each_name_has_a_row() -> None:
    assert names_in_use() == set(PROPERTIES)
