"""Workers of mode Verify: read an existing ONNX file from any source.

They return the same values as an export, so that verification is the same. Nothing is converted,
and the file is treated as untrusted.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from modelexport_api.reasons import Reason
from modelexport_api.spec import Export, ModelExportSpec, Weights
from modelexport_api.status import Stage
from modelexport_exporter.call import bind_inputs
from modelexport_exporter.checkpoint.load import load_module
from modelexport_exporter.convert.contract import check_contract
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import (
    ContractFinding,
    ConvertedModel,
    ExportTask,
    ReportProgress,
    WrittenFile,
)
from modelexport_exporter.onnx_file.checker import checker_error
from modelexport_exporter.onnx_file.external_names import (
    UnsafeNameError,
    external_names,
    external_problem,
)
from modelexport_exporter.onnx_file.function_calls import TooManyNodesError, check_functions
from modelexport_exporter.onnx_file.read_back import ArtifactFacts, read_back
from modelexport_exporter.onnx_file.weights import weight_keys
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.plugins.plugins import load_plugins
from modelexport_exporter.workers.stage_results import (
    StageClock,
    describe_contract,
    parameters_of,
)


def read_external_names(path: Path, progress: ReportProgress) -> tuple[str, ...]:
    """Return the names of the external data files of an ONNX file. Raises ExportFailure."""
    progress(Stage.FETCH, 1.0, "looking for external data")
    try:
        return external_names(_load(path))
    except UnsafeNameError as error:
        raise ExportFailure(
            Reason.ARTIFACT_INVALID,
            f"external data: {error}",
            "Do not serve this file. Save the model again, external data in the same directory.",
        ) from None


@older_torch()
def read_artifact(
    task: ExportTask, path: Path, files: tuple[WrittenFile, ...], progress: ReportProgress
) -> ConvertedModel:
    """Return the description of the file, checked against the spec. Raises ExportFailure."""
    clock = StageClock()
    progress(Stage.LOAD, 0.0, "importing torch")
    with clock.stage(Stage.LOAD):
        load_plugins(task, progress)
        loaded = load_module(task, progress)
        module = loaded.module
        spec = bind_inputs(task.spec, module, task.code_dir).spec
    clock.report(Stage.LOAD, parameters_of(module), progress)
    with clock.stage(Stage.CONTRACT):
        progress(Stage.CONTRACT, 0.0, "reading the file")
        model = _load(path)
        if problem := external_problem(model, path.parent):
            raise ExportFailure(
                Reason.ARTIFACT_INVALID,
                f"{path.name}: {problem}",
                "Do not serve this file. Save the model again, external data next to it.",
            )
        if error := checker_error(path):
            message = f"the ONNX checker refuses {path.name}: {error}"
            raise ExportFailure(Reason.ARTIFACT_INVALID, message)
        producer = _producer(model)
        facts = read_back(path)
        weights = _weight_inputs(task.spec, weight_keys(module), facts)
        own = tuple(entry for entry in facts.inputs if entry.name not in weights)
        facts = replace(facts, inputs=own)
        findings = (
            *loaded.findings,
            *_opset_finding(spec, facts),
            *check_contract(_with_opset_of(spec, facts), facts),
        )
    clock.report(Stage.CONTRACT, describe_contract(facts, findings), progress)
    return ConvertedModel(
        model_path=path,
        files=files,
        opset=facts.opset,
        ir_version=facts.ir_version,
        exporter=producer,
        inputs=facts.inputs,
        outputs=facts.outputs,
        op_counts=facts.op_counts,
        findings=findings,
        modules=facts.modules,
        weight_inputs=weights,
        seconds=clock.seconds,
    )


def _load(path: Path) -> onnx.ModelProto:
    try:
        model = onnx.load(str(path), load_external_data=False)
    except (DecodeError, ValueError) as error:
        raise _no_onnx_file(path, " ".join(str(error).split())[:200]) from None
    if not model.HasField("graph"):
        raise _no_onnx_file(path, "it has no graph")
    try:
        check_functions(model)
    except TooManyNodesError as error:
        raise ExportFailure(
            Reason.ARTIFACT_INVALID,
            f"{path.name} cannot be checked: {error}",
            "Do not serve this file. Save the model again with fewer or inlined functions.",
        ) from None
    return model


def _no_onnx_file(path: Path, why: str) -> ExportFailure:
    return ExportFailure(
        Reason.ARTIFACT_INVALID,
        f"{path.name} is not an ONNX file: {why}",
        "spec.artifact.uri must name an ONNX model in protobuf's binary form.",
    )


def _weight_inputs(spec: ModelExportSpec, keys: list[str], facts: ArtifactFacts) -> dict[str, str]:
    """Return the inputs that are weights, if the spec says that the file omits them."""
    export: Export = spec.export
    if export.weights is not Weights.OMITTED:
        return {}
    names = [*export.parameter_names, *keys[len(export.parameter_names) :]]
    known = dict(zip(names, keys, strict=False))
    return {tensor.name: known[tensor.name] for tensor in facts.inputs if tensor.name in known}


def _with_opset_of(spec: ModelExportSpec, facts: ArtifactFacts) -> ModelExportSpec:
    """Return the spec with the file's opset."""
    return spec.model_copy(update={"export": spec.export.model_copy(update={"opset": facts.opset})})


def _opset_finding(spec: ModelExportSpec, facts: ArtifactFacts) -> tuple[ContractFinding, ...]:
    if facts.opset == spec.export.opset:
        return ()
    return (ContractFinding("opset", str(spec.export.opset), str(facts.opset)),)


def _producer(model: onnx.ModelProto) -> str:
    return f"{model.producer_name} {model.producer_version}".strip() or "unknown"
