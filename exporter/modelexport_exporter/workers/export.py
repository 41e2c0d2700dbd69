"""The export worker: from a checkpoint to ONNX files, by load, capture, convert, contract.

It runs the user's code and holds the weights, so it may die; the supervisor starts it, watches it
and explains its death. It publishes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import onnx_ir as ir
import torch

from modelexport_api.spec import Exporter, Format, Provider
from modelexport_api.status import Stage
from modelexport_exporter.call import BoundInputs, bind_inputs
from modelexport_exporter.checkpoint.load import LoadedModel, load_module
from modelexport_exporter.convert.branches import ModelToCapture
from modelexport_exporter.convert.by_size.capture_pieces import model_by_size
from modelexport_exporter.convert.by_value.capture_paths import model_by_value
from modelexport_exporter.convert.capture import capture
from modelexport_exporter.convert.capture_failure import run_eagerly
from modelexport_exporter.convert.contract import check_contract, check_file
from modelexport_exporter.convert.dynamo import Translation, finish, translate
from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from modelexport_exporter.convert.names import name_outputs
from modelexport_exporter.convert.no_route import without_any_route
from modelexport_exporter.convert.route import check_route
from modelexport_exporter.convert.size_guards import find_size_guards
from modelexport_exporter.convert.torchscript import converted_torchscript
from modelexport_exporter.convert.widened_bfloat16 import widen_bfloat16
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.providers import wanted_provider
from modelexport_exporter.core.types import (
    ROUTES,
    ConvertedModel,
    ExportTask,
    PointedWeights,
    ReportProgress,
    Rung,
    SizeGuard,
    WrittenFile,
)
from modelexport_exporter.diagnosis.explain import explaining
from modelexport_exporter.onnx_file.pointed import Pointed
from modelexport_exporter.onnx_file.read_back import read_back
from modelexport_exporter.onnx_file.stored_tensors import StoredTensors
from modelexport_exporter.onnx_file.weights import ArrangedWeights, arrange_weights
from modelexport_exporter.onnx_file.write import MODEL_NAME, write_model
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.plugins.plugins import Plugins, load_plugins
from modelexport_exporter.precision.apply import in_precision
from modelexport_exporter.torch_internals.symbolic_sizes import sizes_written_as_text
from modelexport_exporter.verification.seeking.jumps import is_model_code
from modelexport_exporter.workers.in_checkpoint import (
    keeps_weights,
    pointed_findings,
    stored_tensors,
    use_stored_weights,
)
from modelexport_exporter.workers.names_of_outputs import names_of_outputs
from modelexport_exporter.workers.stage_results import (
    StageClock,
    describe_contract,
    parameters_of,
)


@dataclass(frozen=True)
class Subject:
    """A checkpoint's model, and what translates it."""

    task: ExportTask
    loaded: LoadedModel
    bound_inputs: BoundInputs
    plugins: Plugins
    stored: StoredTensors | None = None
    """What the checkpoint has, for `weights: InCheckpoint`."""

    @property
    def to_capture(self) -> ModelToCapture:
        """Return the model with what captures it."""
        return ModelToCapture(
            self.loaded.module, self.bound_inputs, self.plugins, self.task.code_dir
        )


@dataclass(frozen=True)
class Written:
    """The files on disk, and the arrangement of their weights."""

    arranged: ArrangedWeights
    files: tuple[WrittenFile, ...]
    guards: tuple[SizeGuard, ...] = ()
    sizes_as_text: bool = False
    pointed: PointedWeights | None = None


OnTranslation = Callable[[Subject, Translation], None]
"""Called with the translation of the Dynamo route, before any constant folding."""


@older_torch()
def export_model(task: ExportTask, progress: ReportProgress) -> ConvertedModel:
    """Export the task's checkpoint into its output directory and check what was written."""
    return export(task, progress)


def export(
    task: ExportTask, progress: ReportProgress, on_translation: OnTranslation | None = None
) -> ConvertedModel:
    """Do the same, and call `on_translation` with the translation."""
    clock = StageClock()
    with clock.stage(Stage.LOAD):
        plugins = load_plugins(task, progress)
        stored = stored_tensors(task)
        loaded = load_module(task, progress)
        check_route(task, loaded.format, loaded.module)
        bound_inputs = bind_inputs(task.spec, loaded.module, task.code_dir)
        plugins.check_route(task, lambda: run_eagerly(loaded.module, bound_inputs))
    clock.report(Stage.LOAD, parameters_of(loaded.module), progress)
    subject = Subject(task, loaded, bound_inputs, plugins, stored)
    with explaining(loaded.module, bound_inputs, task.code_dir):
        try:
            written = convert(subject, on_translation, clock, progress)
        except ExportFailure as failure:
            raise _explained(failure, subject) from failure.__cause__
        return check(subject, written, clock, progress)


def _explained(failure: ExportFailure, subject: Subject) -> ExportFailure:
    """Return the failure, and say so if no other route can avoid it."""
    if subject.loaded.format in {Format.TORCH_SCRIPT, Format.EXPORTED_PROGRAM}:
        return failure  # there is only one route
    return without_any_route(failure, ROUTES[subject.task.rung], subject.to_capture)


def check(
    subject: Subject, written: Written, clock: StageClock, progress: ReportProgress
) -> ConvertedModel:
    """Read back the written file and check it against the spec. Raises ExportFailure."""
    task, arranged = subject.task, written.arranged
    path = task.output_dir / MODEL_NAME
    with clock.stage(Stage.CONTRACT):
        progress(Stage.CONTRACT, 0.0, "reading the file back")
        facts = read_back(path)
        own = tuple(entry for entry in facts.inputs if entry.name not in arranged.inputs)
        facts = replace(facts, inputs=own)
        findings = check_contract(subject.bound_inputs.spec, facts)
        check_file(path)
        nodes = sum(facts.op_counts.values())
        clock.report(Stage.CONVERT, f"{nodes:,} nodes, opset {facts.opset}", progress)
    clock.report(Stage.CONTRACT, describe_contract(facts, findings), progress)
    findings = subject.loaded.findings + arranged.findings + findings
    return ConvertedModel(
        model_path=path,
        files=written.files,
        opset=facts.opset,
        ir_version=facts.ir_version,
        exporter=describe_rung(task.rung),
        inputs=facts.inputs,
        outputs=facts.outputs,
        op_counts=facts.op_counts,
        findings=findings + subject.plugins.findings(task, facts),
        modules=facts.modules,
        weight_inputs=arranged.inputs,
        seconds=clock.seconds,
        guards=written.guards,
        sizes_as_text=written.sizes_as_text,
        pointed=written.pointed,
    )


def describe_rung(rung: Rung) -> str:
    """Return `TorchScript (Trace, torch 2.15.0)`; the plain route for its first rung."""
    route = ROUTES[rung].value
    version = f"torch {torch.__version__.partition('+')[0]}"
    return f"{route} ({version})" if rung.value == route else f"{route} ({rung.value}, {version})"


def convert(
    subject: Subject,
    on_translation: OnTranslation | None,
    clock: StageClock,
    progress: ReportProgress,
) -> Written:
    """Convert the model by the task's rung, and write the file. Raises ExportFailure."""
    task, loaded, bound_inputs = subject.task, subject.loaded, subject.bound_inputs
    rung = task.rung
    if ROUTES[rung] is Exporter.TORCH_SCRIPT:
        scripted = rung is Rung.SCRIPT
        with clock.stage(Stage.CONVERT):
            progress(Stage.CONVERT, 0.0, "compiling the script" if scripted else "tracing")
            with converted_torchscript(
                loaded.module,
                bound_inputs,
                subject.plugins,
                task.output_dir,
                task.code_dir,
                scripted=scripted,
            ) as converted:
                return write(_named(converted, subject), subject)
    if rung in _OF_SEVERAL_GRAPHS:
        with clock.stage(Stage.CONVERT), sizes_written_as_text(is_model_code) as texts:
            several = _OF_SEVERAL_GRAPHS[rung](
                subject.to_capture,
                optimize=optimizes(task),
                progress=lambda message: progress(Stage.CONVERT, 0.0, message),
            )
            written = write(_named(several.model, subject), subject)
            return replace(written, guards=several.guards, sizes_as_text=bool(texts))
    with clock.stage(Stage.CAPTURE):
        progress(Stage.CAPTURE, 0.0, "capturing the graph with torch.export")
        strict = rung is Rung.DYNAMO_STRICT
        with sizes_written_as_text(is_model_code) as texts:
            program = loaded.program or capture(
                loaded.module, bound_inputs, task.code_dir, strict=strict
            )
    clock.report(Stage.CAPTURE, f"{len(program.graph.nodes):,} operations", progress)
    with clock.stage(Stage.CONVERT):
        progress(Stage.CONVERT, 0.0, "translating the graph to ONNX")
        translation = translate(program, bound_inputs.spec, subject.plugins, task.code_dir)
        count = len(translation.model.graph.outputs)
        names = names_of_outputs(loaded.module, bound_inputs, count, program)
        translation = replace(translation, outputs=names)
        if on_translation is not None:
            on_translation(subject, translation)
        optimize = optimizes(task) and keeps_weights(task, loaded.module)
        model = finish(translation, optimize=optimize)
        progress(Stage.CONVERT, 0.6, "writing the model")
        written = write(model, subject)
        guards = find_size_guards(translation.conditions, bound_inputs.spec)
        return replace(written, guards=guards, sizes_as_text=bool(texts))


def _named(model: ir.Model, subject: Subject) -> ir.Model:
    """Return the model with the names of its outputs, whatever the route called them."""
    count = len(model.graph.outputs)
    names = names_of_outputs(subject.loaded.module, subject.bound_inputs, count)
    return name_outputs(model, names)


_OF_SEVERAL_GRAPHS = {
    Rung.DYNAMO_BY_SIZE: model_by_size,
    Rung.DYNAMO_BY_VALUE: model_by_value,
}


def optimizes(task: ExportTask) -> bool:
    """Return whether the rung's file is optimized."""
    # The optimizer folds weights into new ones, which no state_dict has.
    whole = not task.spec.export.weights.are_inputs
    return task.rung is not Rung.DYNAMO_UNOPTIMIZED and whole and task.spec.export.optimize


def write(model: ir.Model, subject: Subject) -> Written:
    """Apply plugins and precision to a model, and write it."""
    subject.plugins.complete(model)
    task = subject.task
    with in_precision(model, subject.bound_inputs.spec, task) as (converted, kept):
        # Afterwards: in float16, the formula of a sigmoid overflows.
        avoid_inexact_kernels(converted, Declared.of(subject.bound_inputs.spec))
        requested = task.spec.verification.provider
        if wanted_provider(requested, torch.cuda.is_available()) is Provider.CPU:
            widen_bfloat16(converted)
        if subject.stored is not None:
            use_stored_weights(converted, subject.loaded.module, subject.stored)
        arranged = arrange_weights(converted, subject.loaded.module, task.spec.export)
        pointed = Pointed(subject.stored) if subject.stored is not None else None
        files = write_model(converted, task.output_dir, pointed)
    found = arranged.findings + kept
    if pointed is None:
        return Written(replace(arranged, findings=found), files)
    found += pointed_findings(pointed.weights)
    return Written(replace(arranged, findings=found), files, pointed=pointed.weights)
