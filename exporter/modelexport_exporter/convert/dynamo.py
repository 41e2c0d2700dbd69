"""Convert by the Dynamo route: from an ExportedProgram to an ONNX model in memory.

The weights stay where the program has them; nothing is written. Dims carry the declared names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir
import torch
from torch.export import ExportedProgram

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter, ModelExportSpec
from modelexport_exporter.convert.capture import quiet
from modelexport_exporter.convert.double_constants import keep_constants_double
from modelexport_exporter.convert.names import name_outputs
from modelexport_exporter.convert.program_dims import symbol_names
from modelexport_exporter.convert.program_outputs import check_outputs
from modelexport_exporter.convert.size_arithmetic import (
    compute_sizes_in_double,
    round_quotients_down,
)
from modelexport_exporter.convert.size_expressions import values_at
from modelexport_exporter.convert.size_guards import (
    Condition,
    check_sizes_read,
    conditions_of,
    conditions_read,
)
from modelexport_exporter.convert.weight_functions import with_computed_weights
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.foreign_messages import NO_ONNX_FUNCTION
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.core.user_frame import innermost
from modelexport_exporter.decompositions import decomposing, prepared, provided
from modelexport_exporter.diagnosis.operators.failure import unsupported_failure
from modelexport_exporter.diagnosis.operators.in_program import find_unsupported, unsupported_calls
from modelexport_exporter.plugins.plugins import Plugins
from modelexport_exporter.torch_internals.asserted_quotients import quotients_are_asserted
from modelexport_exporter.torch_internals.known_conditions import conditions_narrow_no_size
from modelexport_exporter.torch_internals.known_integers import has_numbers
from modelexport_exporter.torch_internals.onnxscript_constants import constants_have_own_names
from modelexport_exporter.torch_internals.onnxscript_matcher import (
    compare_constants_exactly,
    compare_operators_first,
)
from modelexport_exporter.torch_internals.python_floats import python_floats_are_double
from modelexport_exporter.torch_internals.reshapes import copies_narrow_no_size
from modelexport_exporter.torch_internals.simple_sizes import sizes_in_simple_form
from modelexport_exporter.torch_internals.size_functions import TRANSLATIONS
from modelexport_exporter.torch_internals.symbolic_sizes import (
    deferred_conditions,
    rename_size,
    sizes_read_as_numbers,
)
from modelexport_exporter.torch_internals.translation import reading_no_sources

_NODE = re.compile(r"%(\w+) .*?target=([\w.]+)", re.DOTALL)


@dataclass(frozen=True)
class Translation:
    """A translated program before optimization: no constants are folded yet."""

    model: ir.Model
    """Its weights are the program's tensors."""
    names: Mapping[str, str]
    """The declared names of dims, by the program's symbols."""
    inputs: Sequence[str]
    """The declared names of inputs. They are set last, because the optimizer renames values."""
    outputs: Sequence[str]
    conditions: tuple[Condition, ...] = ()
    """What the graph assumes of its sizes."""
    of_these_weights: bool = False
    """Whether it has constants that follow from these weights, so that it fits no others."""


@quotients_are_asserted()
@conditions_narrow_no_size()
@copies_narrow_no_size()
@sizes_in_simple_form(values_at)
def translate(
    program: ExportedProgram,
    spec: ModelExportSpec,
    plugins: Plugins,
    code_dir: Path | None,
    names: Mapping[str, str] | None = None,
) -> Translation:
    """Return the program's translation. Raises ExportFailure.

    `names`: of dims, by the program's symbols, of a program that may hold for a part of the sizes.
    Without it all declared dims have to be dynamic.
    """
    whole = names is None
    of_these_weights = has_numbers(program)
    deferred = tuple(deferred_conditions(program))
    with sizes_read_as_numbers() as read:
        program = plugins.decompose(program)
        program = prepared(program, plugins.left_alone)
    names = symbol_names(program, spec) if names is None else names
    if whole:
        check_sizes_read(read, names, spec)
    conditions = [*conditions_of(program, names, code_dir, deferred), *conditions_read(read, names)]
    check_outputs(program)
    with decomposing(plugins.left_alone), sizes_read_as_numbers() as read:
        try:
            converted, computed_weights = _converted(program, spec, plugins)
        except Exception as error:
            raise _explain(error, program, spec, plugins, code_dir) from error
    if whole:
        check_sizes_read(read, names, spec)
    conditions += conditions_read(read, names)
    inputs = [entry.name for entry in spec.inputs]
    # A copy, as every checkpoint of a batch gets one: copying orders attributes.
    decomposed = converted.exported_program
    assert decomposed is not None
    model = round_quotients_down(converted.model.clone(), decomposed)
    model = compute_sizes_in_double(model, decomposed)
    model = keep_constants_double(model, decomposed)
    of_these_weights = of_these_weights or computed_weights
    return Translation(model, names, inputs, spec.outputs, tuple(conditions), of_these_weights)


def _converted(
    program: ExportedProgram, spec: ModelExportSpec, plugins: Plugins
) -> tuple[torch.onnx.ONNXProgram, bool]:
    """Return the translation, and whether PyTorch computed functions of weights for it."""
    try:
        return _torch_onnx(program, spec, plugins), False
    except Exception as error:
        if not _lacks_function(error):
            raise
        names = unsupported_calls(program, spec.export.opset, plugins.translated)
        if not with_computed_weights(program, names):
            raise
    return _torch_onnx(program, spec, plugins), True


def _lacks_function(error: Exception) -> bool:
    return any(NO_ONNX_FUNCTION in str(one) for one in (error, innermost(error)))


def _torch_onnx(
    program: ExportedProgram, spec: ModelExportSpec, plugins: Plugins
) -> torch.onnx.ONNXProgram:
    with quiet(), python_floats_are_double(), reading_no_sources():
        converted = torch.onnx.export(
            program,
            dynamo=True,
            custom_translation_table={**TRANSLATIONS, **plugins.translations(program)},
            opset_version=spec.export.opset,
            optimize=False,
            verbose=False,
        )
    assert converted is not None
    return converted


def finish(translation: Translation, *, optimize: bool) -> ir.Model:
    """Return the translation's model, optimized as torch.onnx does it, with the declared names.

    The optimizer folds weights into each other: afterwards they cannot be identified any more.
    """
    model = translation.model
    if optimize:
        try:
            with (
                quiet(),
                compare_operators_first(),
                compare_constants_exactly(),
                constants_have_own_names(model),
            ):
                program = torch.onnx.ONNXProgram(model, None)
                program.optimize()
        except Exception as error:
            raise _optimizer_failure(error) from error
        model = program.model
    for value, name in zip(model.graph.inputs, translation.inputs, strict=False):
        value.name = name
    rename_dims(model, translation.names)
    return name_outputs(model, translation.outputs)


def _optimizer_failure(error: Exception) -> ExportFailure:
    reraise_out_of_memory(error)
    cause: BaseException = error
    while cause.__cause__ is not None:  # the error of a pass names the passes before it only
        cause = cause.__cause__
    text = " ".join(str(cause).split())[:500]
    return ExportFailure(
        Reason.CONVERSION_FAILED,
        f"torch.onnx cannot optimize the translated graph: {type(cause).__name__}: {text}",
        "Another export.opset may avoid it.",
    )


def rename_dims(model: ir.Model, names: Mapping[str, str]) -> None:
    """Write the declared names into every shape, also inside expressions such as `2*s77`."""
    for value in _values(model):
        if value.shape is None or value.shape.is_static():
            continue
        value.shape = ir.Shape(_renamed(dim, names) for dim in value.shape)


def _renamed(dim: int | ir.SymbolicDim, names: Mapping[str, str]) -> str | int | ir.SymbolicDim:
    named = isinstance(dim, ir.SymbolicDim) and dim.value
    return rename_size(str(named), names) if named else dim


def _values(model: ir.Model) -> Iterator[ir.Value]:
    graphs: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    for graph in graphs:
        yield from graph.inputs
        for node in graph.all_nodes():
            yield from node.outputs


def _explain(
    error: Exception,
    program: ExportedProgram,
    spec: ModelExportSpec,
    plugins: Plugins,
    code_dir: Path | None,
) -> ExportFailure:
    reraise_out_of_memory(error)
    cause = innermost(error)
    if _lacks_function(error):
        operators = find_unsupported(
            program,
            spec.export.opset,
            code_dir,
            translated=plugins.translated,
            provided=provided(),
            disabled=spec.export.rewrites.disabled,
        )
        if operators:
            return unsupported_failure(operators, Exporter.DYNAMO, spec.export.opset)
    node = _NODE.search(str(error))
    where = f" at {node.group(2)} ({node.group(1)})" if node else ""
    text = " ".join(str(cause).split())[:500]
    return ExportFailure(
        Reason.CONVERSION_FAILED,
        f"torch.onnx cannot translate the captured graph{where}: {type(cause).__name__}: {text}",
        "If the operator is named, write that line of the model with simpler operators; another "
        "export.opset may have it.",
    )
