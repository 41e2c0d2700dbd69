"""Convert by the Dynamo route: from an ExportedProgram to an ONNX model in memory.

The weights stay where the program has them; nothing is written. Dims carry the declared names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx_ir as ir
import torch
from torch.export import ExportedProgram

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter, ModelExportSpec
from modelexport_exporter.capture import quiet
from modelexport_exporter.conversion.names import make_names_unique
from modelexport_exporter.conversion.onnxscript_private import comparing_operators_first
from modelexport_exporter.conversion.program_dims import symbol_names
from modelexport_exporter.conversion.program_outputs import check_outputs
from modelexport_exporter.decompositions import provided, rewrite_program
from modelexport_exporter.diagnosis.operators.failure import unsupported_failure
from modelexport_exporter.diagnosis.operators.in_program import find_unsupported
from modelexport_exporter.failure import ExportFailure
from modelexport_exporter.isolation.out_of_memory import reraise_out_of_memory
from modelexport_exporter.plugins.plugins import Plugins
from modelexport_exporter.user_code.user_frame import innermost

_NO_FUNCTION = "No ONNX function found"
_NODE = re.compile(r"%(\w+) .*?target=([\w.]+)", re.DOTALL)
_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def convert_dynamo(
    program: ExportedProgram,
    spec: ModelExportSpec,
    plugins: Plugins,
    code_dir: Path | None,
    *,
    optimize: bool = True,
) -> ir.Model:
    """Return the program's translation, with inputs, outputs and dims named as declared."""
    program = plugins.decomposed(program)
    program = rewrite_program(program, plugins.left_alone)
    names = symbol_names(program, spec)
    check_outputs(program)
    try:
        with quiet(), comparing_operators_first():
            converted = torch.onnx.export(
                program,
                dynamo=True,
                custom_translation_table=plugins.translations(program),
                opset_version=spec.export.opset,
                input_names=[entry.name for entry in spec.inputs],
                output_names=spec.outputs or None,
                optimize=optimize and spec.export.optimize,
                verbose=False,
            )
    except Exception as error:
        raise _explain(error, program, spec, plugins, code_dir) from error
    assert converted is not None
    rename_dims(converted.model, names)
    return make_names_unique(converted.model)


def rename_dims(model: ir.Model, names: Mapping[str, str]) -> None:
    """Write the declared names into every shape, also inside expressions such as `2*s77`."""
    for value in _values(model):
        if value.shape is None or value.shape.is_static():
            continue
        value.shape = ir.Shape(
            _renamed(dim.value, names) if isinstance(dim, ir.SymbolicDim) and dim.value else dim
            for dim in value.shape
        )


def _renamed(expression: str, names: Mapping[str, str]) -> str:
    return _IDENTIFIER.sub(lambda match: names.get(match.group(), match.group()), expression)


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
    if _NO_FUNCTION in str(error) or _NO_FUNCTION in str(cause):
        operators = find_unsupported(
            program,
            spec.export.opset,
            code_dir,
            translated=plugins.translated,
            provided=provided(),
        )
        if operators:
            return unsupported_failure(operators, Exporter.DYNAMO, spec.export.opset)
    node = _NODE.search(str(error))
    where = f" at {node.group(2)} ({node.group(1)})" if node else ""
    text = " ".join(str(cause).split())[:500]
    return ExportFailure(
        Reason.CONVERSION_FAILED,
        f"torch.onnx cannot translate the captured graph{where}: {type(cause).__name__}: {text}",
        "Set export.exporter: TorchScript, or another export.opset; if the operator is named, "
        "write that line of the model with simpler operators.",
    )
