"""Contract: the written file against the spec.

Guarantees that opset, names, dtypes and dims of the artifact are the declared ones, that the ONNX
checker accepts the file, and that its operators mean one thing. A difference that breaks a consumer
fails the export; any other is reported as a finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_api.sizes import is_same_size
from modelexport_api.spec import Input, InputKind, ModelExportSpec
from modelexport_api.status import TensorInfo
from modelexport_exporter.convert.capture_failure import dim_label, requested_range
from modelexport_exporter.core.dims import dynamic_size
from modelexport_exporter.core.errors import ExportFailure, Incurable
from modelexport_exporter.core.types import ContractFinding
from modelexport_exporter.onnx_file.checker import checker_error
from modelexport_exporter.onnx_file.read_back import ArtifactFacts
from modelexport_exporter.onnx_file.shadowed_operators import shadowed_operators


def check_contract(spec: ModelExportSpec, facts: ArtifactFacts) -> tuple[ContractFinding, ...]:
    """Return the allowed differences. Raises ExportFailure for the first other one."""
    _check_opset(spec, facts)
    _check_outputs(spec, facts)
    _check_functions(facts)
    return tuple(_check_inputs(spec, facts))


def check_file(path: Path) -> None:
    """Fail unless the ONNX checker accepts the exported file."""
    if error := checker_error(path):
        raise ExportFailure(
            Reason.CONTRACT_VIOLATED,
            f"the ONNX checker refuses the exported file: {error}",
            "Another export.opset may avoid it.",
        )


def _check_opset(spec: ModelExportSpec, facts: ArtifactFacts) -> None:
    if facts.opset != spec.export.opset:
        raise ExportFailure(
            Reason.CONTRACT_VIOLATED,
            f"opset: requested {spec.export.opset}, got {facts.opset}: the graph has operators "
            "that could not be converted",
            f"Set export.opset to {facts.opset}.",
        )


def _check_outputs(spec: ModelExportSpec, facts: ArtifactFacts) -> None:
    names = [output.name for output in facts.outputs]
    if not names:
        raise Incurable(
            Reason.CONTRACT_VIOLATED,
            "the model returns no tensor",
            "forward must return a tensor, or a tuple, list or dict of tensors.",
        )
    if spec.outputs and names != spec.outputs:
        raise ExportFailure(
            Reason.CONTRACT_VIOLATED,
            f"outputs: requested {', '.join(spec.outputs)} ({len(spec.outputs)}), got "
            f"{', '.join(names)} ({len(names)})",
            "outputs must name every tensor that forward returns, in order; return only those "
            "that you need.",
        )


def _check_functions(facts: ArtifactFacts) -> None:
    if names := shadowed_operators(facts.functions):
        raise ExportFailure(
            Reason.CONTRACT_VIOLATED,
            f"the file defines {', '.join(names)} as functions, which onnxruntime has as "
            "operators: it runs its own, and other runtimes run the functions",
            "Give them other names, or a domain of their own.",
        )


def _check_inputs(spec: ModelExportSpec, facts: ArtifactFacts) -> Iterator[ContractFinding]:
    obtained = {tensor.name: tensor for tensor in facts.inputs}
    declared = {entry.name for entry in spec.inputs}
    extra = [name for name in obtained if name not in declared]
    if extra:
        raise ExportFailure(
            Reason.CONTRACT_VIOLATED,
            f"the file takes inputs that were not declared: {', '.join(extra)}",
            "Declare them in inputs, or make them constants of the module.",
        )
    for entry in spec.inputs:
        if entry.name in obtained:
            yield from _check_input(entry, obtained[entry.name], spec)
        else:
            yield ContractFinding(
                subject=f"input {entry.name}",
                requested="an input of the file",
                obtained="dropped: the outputs do not depend on it",
            )


def _check_input(
    entry: Input, tensor: TensorInfo, spec: ModelExportSpec
) -> Iterator[ContractFinding]:
    accepted = {entry.dtype.value}
    if entry.kind is InputKind.FLOAT:
        accepted |= {"float64"}  # a Python float is one, in a scripted graph
    if tensor.dtype not in accepted or len(tensor.shape) != len(entry.shape):
        raise ExportFailure(
            Reason.CONTRACT_VIOLATED,
            f"input {entry.name}: requested {entry.dtype.value} with {len(entry.shape)} dims, got "
            f"{tensor.dtype} with {len(tensor.shape)}",
            "Declare the input as the model takes it.",
        )
    for axis, (size, got) in enumerate(zip(entry.shape, tensor.shape, strict=True)):
        wanted = dynamic_size(size, spec.dims)
        if isinstance(got, int) and not isinstance(wanted, int):
            raise _specialized(entry, axis, wanted.dim, got, spec)
        if not is_same_size(got, wanted if isinstance(wanted, int) else str(wanted)):
            yield ContractFinding(
                subject=f"input {entry.name} dim {axis}", requested=str(wanted), obtained=str(got)
            )


def _specialized(
    entry: Input, axis: int, name: str, got: int, spec: ModelExportSpec
) -> ExportFailure:
    return ExportFailure(
        Reason.DYNAMIC_DIM_SPECIALIZED,
        f"input {entry.name} dim {axis} ({name}): requested {requested_range(name, spec)}, got "
        f"{got}",
        f"The model bakes {dim_label(name, spec)} in: take the size from the tensor's shape in "
        "forward, or declare the constant in inputs.",
    )
