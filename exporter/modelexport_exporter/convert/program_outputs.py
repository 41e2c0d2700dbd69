"""Outputs of an ExportedProgram that ONNX cannot represent: numbers, strings, complex tensors."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, OutputKind

from modelexport_api.reasons import Reason
from modelexport_exporter.call import complex_output
from modelexport_exporter.core.errors import ExportFailure


def check_outputs(program: ExportedProgram) -> None:
    """Raise ExportFailure for outputs that torch.onnx cannot write, or writes as something else.

    A complex tensor would become one of float numbers with one more dim.
    """
    nodes = {node.name: node for node in program.graph.nodes}
    for position, output in enumerate(program.graph_signature.output_specs):
        if output.kind is not OutputKind.USER_OUTPUT:
            continue
        if isinstance(output.arg, ConstantArgument):
            _refuse_constant(position, output.arg.value)
            continue
        value = nodes[output.arg.name].meta.get("val")
        if isinstance(value, torch.Tensor) and value.is_complex():
            raise complex_output(value.dtype)


def _refuse_constant(position: int, value: object) -> None:
    if value is not None:
        raise ExportFailure(
            Reason.CONVERSION_FAILED,
            f"output {position} of forward is the {type(value).__name__} {value!r:.100}, not a "
            "tensor",
            "Return tensors only: leave it out, or wrap a number in torch.tensor.",
        )
