"""Convert by the TorchScript route: a trace, a compiled script or an archive's, to an ONNX model.

torch writes a file here, in a temporary directory.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx_ir as ir
import torch
from torch.onnx import TrainingMode

from modelexport_api.reasons import Reason
from modelexport_api.spec import DType, Exporter, ModelExportSpec, Weights
from modelexport_api.status import Stage
from modelexport_exporter.call import (
    BoundInputs,
    TorchScriptCall,
    flatten,
    torchscript_call,
    with_own_names,
)
from modelexport_exporter.call.call import Arguments
from modelexport_exporter.call.module_state import ModuleState
from modelexport_exporter.convert.argument_types import Types, argument_types
from modelexport_exporter.convert.capture import quiet
from modelexport_exporter.convert.capture_failure import inputs_mismatch, run_eagerly
from modelexport_exporter.convert.class_constants import declared_constants
from modelexport_exporter.convert.declared_numbers import with_single_precision
from modelexport_exporter.convert.module_lists import lists_of_modules
from modelexport_exporter.convert.names import make_names_unique
from modelexport_exporter.convert.script_dtypes import default_is_double, is_double, write_dtypes
from modelexport_exporter.convert.script_loops import settle_loop_types
from modelexport_exporter.convert.script_numbers import (
    compute_decisions_in_double,
    literals_of,
)
from modelexport_exporter.convert.script_operators import write_missing_operators
from modelexport_exporter.convert.script_returns import (
    begin_returns_with_values,
    return_values_of_dicts,
)
from modelexport_exporter.convert.script_sizes import compute_script_sizes_in_double
from modelexport_exporter.convert.script_symbolics import script_symbolics
from modelexport_exporter.convert.written_file import read_written
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.foreign_messages import GRAPH_WORDS, SURPLUS_OUTPUT_NAMES
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.core.user_frame import UserLine, model_line, shorten, text_of
from modelexport_exporter.decompositions import rewriting_calls
from modelexport_exporter.diagnosis.caught_errors import CaughtErrors
from modelexport_exporter.diagnosis.operators.failure import unsupported_failure
from modelexport_exporter.diagnosis.operators.in_script import unsupported_in_model
from modelexport_exporter.plugins.plugins import Plugins
from modelexport_exporter.torch_internals.export_flags import set_onnx_export_flags
from modelexport_exporter.torch_internals.script_annotations import (
    SCRIPT_PLACE,
    readable_signatures,
)
from modelexport_exporter.torch_internals.torchscript_graph import inline_calls
from modelexport_exporter.user_code.caches import bypassing_caches, modules_of

_COMPILATION_UNIT = re.compile(r"__torch__\.| \(of Python compilation unit at: 0x\w+\)")


@contextmanager
def converted_torchscript(
    module: torch.nn.Module,
    bound_inputs: BoundInputs,
    plugins: Plugins,
    scratch: Path,
    code_dir: Path | None,
    *,
    scripted: bool = False,
) -> Iterator[ir.Model]:
    """Yield the converted model; its weights may be in scratch files until the block ends.

    `scripted`: compile the forward pass with torch.jit.script, so that control flow stays, instead
    of tracing what runs for one set of inputs.
    """
    spec, call = bound_inputs.spec, bound_inputs.call
    trains = spec.model is not None and spec.model.training
    with CaughtErrors(code_dir) as errors:
        refused = run_eagerly(module, bound_inputs)
    if refused is not None:
        raise inputs_mismatch(refused, module, bound_inputs, code_dir) from refused
    if not scripted:
        errors.check()
    with (
        TemporaryDirectory(dir=scratch, prefix=".torchscript-") as directory,
        bypassing_caches(module, modules_of(module, code_dir)),
    ):
        path = Path(directory) / "converted.onnx"
        literals: dict[float, float] = {}
        double = False
        if scripted:
            module = compile_script(module, call.example(bound_inputs.sizes.captured), code_dir)
            with script_symbolics(), plugins.register_symbolics():
                dtypes = [getattr(torch, entry.dtype.value) for entry in call.inputs]
                literals = adapt_script(module, spec.export.opset, dtypes, plugins.left_alone)
                double = is_double(module, dtypes)
        try:
            called = torchscript_call(module, call, bound_inputs.sizes.captured)
        except RuntimeError as error:
            # The compiled forward does not take such arguments.
            raise _not_compiled(error, code_dir) from error
        embedded = spec.export.weights is Weights.EMBEDDED and not trains
        try:
            with (
                quiet(),
                torch.no_grad(),
                script_symbolics(),
                plugins.register_symbolics(),
                rewriting_calls(plugins.left_alone, spec.export.opset),
                default_is_double(double),
            ):
                torch.onnx.export(
                    called.module,
                    called.args,
                    str(path),
                    dynamo=False,
                    **plugins.torchscript_options(),
                    opset_version=spec.export.opset,
                    input_names=call.input_names,
                    output_names=spec.outputs or None,
                    dynamic_axes=call.dynamic_axes(),
                    do_constant_folding=embedded,
                    # In EVAL mode BatchNorm is fused into the weights of the layer before it.
                    training=TrainingMode.EVAL if embedded else TrainingMode.PRESERVE,
                )
        except ExportFailure:
            raise
        except Exception as error:
            # Operators that plugins and rewrites translate must not be listed as unsupported.
            with (
                plugins.register_symbolics(),
                rewriting_calls(plugins.left_alone, spec.export.opset),
            ):
                failure = _explain(error, called.module, (called.args, {}), spec, code_dir)
            raise failure from error
        floats = {
            entry.name for entry in spec.inputs if entry.dtype is DType.FLOAT32 and not entry.shape
        }
        model = with_single_precision(with_own_names(read_written(path)), floats)
        _declare_ranks(model, called)
        yield adapt_translation(model, literals)


def _declare_ranks(model: ir.Model, called: TorchScriptCall) -> None:
    """Declare the rank of outputs of which the exporter knows none, such as those of loops."""
    if all(output.shape is not None for output in model.graph.outputs):
        return
    with torch.no_grad():
        leaves = list(flatten(called.module(*called.args)))
    for output, leaf in zip(model.graph.outputs, leaves, strict=False):
        if output.shape is None and isinstance(output.type, ir.TensorType):
            output.shape = ir.Shape([None] * leaf.dim())


def adapt_script(
    compiled: torch.nn.Module,
    opset: int,
    dtypes: Sequence[torch.dtype],
    left_alone: Collection[str] = frozenset(),
) -> dict[float, float]:
    """Change the graph of a compiled module in place, so that the exporter translates it right.

    Return its numbers by the float32 that the exporter makes of each. `dtypes`: of the tensors that
    forward takes. `left_alone`: operators that are not rewritten.
    """
    graph: Any = compiled.graph
    taken = list(graph.inputs())[1:]
    pairs = zip(taken, dtypes, strict=True) if len(taken) == len(dtypes) else ()
    floats = {value.debugName() for value, dtype in pairs if dtype.is_floating_point}
    inline_calls(graph)
    return_values_of_dicts(graph)
    write_missing_operators(graph, opset, left_alone)
    write_dtypes(graph)
    literals = literals_of(graph)
    begin_returns_with_values(graph)
    compute_decisions_in_double(graph, floats)
    return literals


def adapt_translation(model: ir.Model, literals: Mapping[float, float]) -> ir.Model:
    """Return what the exporter made of a trace or a script, valid and computed as in Python.

    `literals`: the script's numbers by their float32.
    """
    return make_names_unique(settle_loop_types(compute_script_sizes_in_double(model, literals)))


def compile_script(
    module: torch.nn.Module, arguments: Arguments, code_dir: Path | None
) -> torch.nn.Module:
    """Return the module compiled by torch.jit.script for such arguments; a compiled one as is."""
    if isinstance(module, torch.jit.ScriptModule):
        return module
    try:
        with (
            quiet(),
            torch.no_grad(),
            set_onnx_export_flags(dynamic=False),
            readable_signatures(_types_met(module, arguments), lists_of_modules(module)),
            declared_constants(module),
        ):
            compiled: torch.nn.Module = torch.jit.script(module)
    except Exception as error:
        raise _not_compiled(error, code_dir) from error
    return compiled


def _types_met(module: torch.nn.Module, arguments: Arguments) -> Types:
    before = ModuleState(module)
    args, kwargs = copy.deepcopy(arguments)
    try:
        return argument_types(lambda: module(*args, **kwargs))
    finally:
        before.restore(module)


def _not_compiled(error: Exception, code_dir: Path | None) -> ExportFailure:
    reraise_out_of_memory(error)
    frame = _scripted_line(str(error), code_dir) or model_line(error, code_dir)
    return ExportFailure(
        Reason.CAPTURE_FAILED,
        f"torch.jit.script cannot compile the forward pass{f' at {frame}' if frame else ''}: "
        f"{_without_addresses(text_of(error))[:400]}",
        "TorchScript takes a typed subset of Python: annotate arguments that are no tensors, "
        "and keep to torch operators.",
        stage=Stage.CAPTURE,
        sources=(frame.source,) if frame else (),
    )


def _without_addresses(text: str) -> str:
    """Return the compiler's message without its own objects and the frames that it quotes."""
    return _COMPILATION_UNIT.sub("", text).partition(': File "')[0]


def _scripted_line(text: str, code_dir: Path | None) -> UserLine | None:
    """Return the innermost line of user code in the compiler's message."""
    frames = SCRIPT_PLACE.findall(text)
    return UserLine(f"{shorten(frames[0][0], code_dir)}:{frames[0][1]}") if frames else None


def _explain(
    error: Exception,
    module: torch.nn.Module,
    arguments: Arguments,
    spec: ModelExportSpec,
    code_dir: Path | None,
) -> ExportFailure:
    reraise_out_of_memory(error)
    text = GRAPH_WORDS.sub("", text_of(error))
    surplus = SURPLUS_OUTPUT_NAMES.search(text)
    if surplus:
        return ExportFailure(
            Reason.CONTRACT_VIOLATED,
            f"outputs: requested {', '.join(spec.outputs)} ({len(spec.outputs)}), but forward "
            f"returns {surplus.group(1)}",
            "outputs must name every tensor that forward returns, in order, and no more.",
        )
    if isinstance(error, torch.onnx.errors.UnsupportedOperatorError):
        operators = unsupported_in_model(
            module,
            *arguments,
            spec.export.opset,
            code_dir,
            disabled=spec.export.rewrites.disabled,
        )
        if operators:
            return unsupported_failure(operators, Exporter.TORCH_SCRIPT, spec.export.opset)
        return ExportFailure(
            Reason.UNSUPPORTED_OPERATOR,
            f"the TorchScript route cannot translate the model to ONNX opset {spec.export.opset}: "
            f"{text[:500]}",
            "Raise export.opset where the message names a later one, or write the line with "
            "operators that ONNX has.",
        )
    frame = model_line(error, code_dir)
    place = f" at {frame}" if frame else ""
    return ExportFailure(
        Reason.CONVERSION_FAILED,
        f"the TorchScript route cannot convert the model{place}: {type(error).__name__}: "
        f"{text[:500]}",
        "Control flow over tensor values needs torch.where; another export.opset may have the "
        "operators.",
        sources=(frame.source,) if frame else (),
    )
