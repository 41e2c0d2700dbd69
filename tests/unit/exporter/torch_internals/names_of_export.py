"""What must be true of the private names of torch.export, its sizes and its translation to ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy
import torch
from onnxscript.rewriter import _matcher
from torch._subclasses import fake_impls
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimConstraints, ShapeEnv
from torch.onnx._internal.exporter import _building, _flags, _registration

from modelexport_exporter.torch_internals.decomposition_table import decomposition_table
from modelexport_exporter.torch_internals.operators import OpOverload
from unit.exporter.torch_internals.name_checks import (
    IMAGE,
    TILE,
    X,
    imports,
    parameters,
    parsed,
    program,
    takes,
)

TRANSLATION = "torch.onnx._internal.exporter"


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


def is_false_of(check: Callable[[bool], None]) -> bool:
    check(True)
    with pytest.raises(RuntimeError):
        check(False)
    return True


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


def kernel_of_a_convolution() -> Any:  # noqa: ANN401
    ones = {name: [1, 1] for name in ("stride", "padding", "dilation")}
    return torch._C._select_conv_backend(
        IMAGE,
        IMAGE,
        bias=None,
        bias_sizes=None,
        **ones,
        transposed=False,
        output_padding=[0, 0],
        groups=1,
    )


def chooses_a_kernel(select: Callable[..., Any]) -> bool:
    return select is torch._C._select_conv_backend and kernel_of_a_convolution() is not None


PROPERTIES: dict[str, Callable[[Any], object]] = {
    "'_determine_input_dtype'": lambda name: hasattr(_building, name),
    "'_is_onnx_exporting'": lambda name: getattr(_flags, name) is False,
    "'torch._dynamo'": imports,
    "torch._dynamo.source.ConstantSource": lambda source: source("n").source_name == "n",
    "torch._subclasses.fake_tensor.FakeCopyMode": lambda mode: takes(mode, object()),
    "torch._subclasses.fake_tensor.FakeTensor": lambda kind: issubclass(kind, torch.Tensor),
    "torch._subclasses.fake_tensor.FakeTensorMode.dispatch": lambda dispatch: (
        takes(FakeTensorMode, allow_non_fake_inputs=True)
        and takes(dispatch, object(), object(), (), (), {})
    ),
    "torch._subclasses.fake_tensor.FakeTensorConverter.from_real_tensor": lambda make: (
        parameters(make)[:3] == ["self", "fake_mode", "t"]
    ),
    "torch.utils._mode_utils.no_dispatch": lambda guard: "__enter__" in dir(guard),
    "'_apply'": lambda name: callable(getattr(torch.nn.Module, name)),
    "torch.nn.Module._apply": lambda apply: parameters(apply) == ["self", "fn", "recurse"],
    "'_select_conv_backend'": lambda name: hasattr(torch._C, name),
    "'_conv_determine_backend_memory_format'": lambda name: hasattr(torch._C, name),
    "torch._C._select_conv_backend": chooses_a_kernel,
    "torch._C._conv_determine_backend_memory_format": lambda choose: (
        choose(IMAGE, IMAGE, kernel_of_a_convolution()) is torch.contiguous_format
    ),
    "op._dispatch_cache": lambda cache: isinstance(cache, dict),
    "op._op_dk": lambda kernel: (
        kernel(torch._C.DispatchKey.CompositeImplicitAutograd, X, (1, -1)).shape[0] == 1
    ),
    "torch._C.DispatchKey.CompositeImplicitAutograd": lambda key: (
        key in torch.ops.aten.reshape.default.py_kernels
        or torch.ops.aten.reshape.default.has_kernel_for_dispatch_key(key)
    ),
    "torch._prims_common.infer_size": lambda infer: tuple(infer((2, -1), 6)) == (2, 3),
    "'torch.export._trace'": imports,
    "matcher._match_constant": lambda match: takes(match, 1, 2, 3),
    "onnxscript._internal.values.TracedOnnxFunction": lambda function: isinstance(
        vars(function)["function_ir"], property
    ),
    "onnxscript.rewriter._basics.MatchResult": lambda result: not result().fail("why"),
    "onnxscript.rewriter._matcher.SimplePatternMatcher": lambda matcher: (
        takes(matcher.match, matcher, 1, 2, 3, tracer=None)
        and issubclass(matcher, _matcher.PatternMatcher)
    ),
    "torch._check": is_false_of,
    "torch._decomp.decomposition_table.get": lambda get: torch.allclose(
        get(torch.ops.aten.silu.default)(X), torch.nn.functional.silu(X)
    ),
    "torch.export._patches.register_gru_while_loop_decomposition": replaces(
        torch.ops.aten.gru.input
    ),
    "torch.export._patches.register_lstm_while_loop_decomposition": replaces(
        torch.ops.aten.lstm.input
    ),
    "torch.fx.experimental._config.patch": patches,
    f"{TRANSLATION}._core.current_tracer": lambda tracer: tracer is None,
    f"{TRANSLATION}._decomp.create_onnx_friendly_decomposition_table": lambda create: (
        torch.ops.aten.soft_margin_loss.default in create(set())
    ),
    f"{TRANSLATION}._dispatching.dispatch": translates,
    f"{TRANSLATION}._flags": lambda flags: flags is _flags,
    f"{TRANSLATION}._fx_passes.decompose_with_registry": lambda decompose: (
        "softshrink" not in str(decompose(program(), registry_of_torch()).graph)
    ),
    f"{TRANSLATION}._fx_passes.remove_assertion_nodes": lambda remove: (
        remove(program().graph_module).graph
    ),
    f"{TRANSLATION}._registration.ONNXRegistry.from_torchlib": makes_a_registry,
    "torch._sym_sqrt": lambda root: root(9) == 3.0,
    "torch.onnx._internal.exporter._building._determine_input_dtype": lambda determine: (
        parameters(determine) == ["param", "arg", "type_binding"]
    ),
    "torch.fx.experimental.symbolic_shapes.DimConstraints._process_derived_dim_roots": (
        lambda process: parameters(process) == ["self", "results", "name_to_dim"]
    ),
    "torch.fx.experimental.symbolic_shapes.ShapeEnv._maybe_evaluate_static": lambda evaluate: (
        parameters(evaluate)[:2] == ["self", "expr"] and bool(evaluate.cache_clear)
    ),
    "'_process_derived_dim_roots'": lambda name: hasattr(DimConstraints, name),
    "torch._subclasses.fake_impls._compute_slice_index": lambda bound: (
        parameters(bound) == ["size", "index"] and bound(7, -2) == 5 and bound(7, 9) == 7
    ),
    "'_compute_slice_index'": lambda name: hasattr(fake_impls, name),
    "'_maybe_evaluate_static'": lambda name: hasattr(ShapeEnv, name),
    "torch.utils._sympy.reference.PythonReferenceAnalysis.int_truediv": lambda quotient: (
        parameters(quotient) == ["a", "b"] and float(quotient(sympy.Integer(3), 2)) == 1.5
    ),
    **{
        f"torch.utils._sympy.functions.{name}": lambda function: issubclass(
            function, sympy.Function
        )
        for name in ("CeilToInt", "FloorDiv", "FloorToInt", "TruncToInt")
    },
    **{
        f"torch.utils._sympy.functions.{name}": lambda function: (
            issubclass(function, sympy.Expr) and function(sympy.Symbol("n"), 1).args != ()
        )
        for name in ("Max", "Min")
    },
    "torch.utils._sympy.printers.PythonPrinter": lambda printer: (
        printer().doprint(sympy.Ne(sympy.Symbol("n"), 50)) == "n != 50"
    ),
}
"""What must be true of each name. In quotes: a name that is looked up as text."""
