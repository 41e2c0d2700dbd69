"""Examines a model without exporting it: in a worker process, since it runs the user's code."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter, Format
from modelexport_api.status import Stage, TensorInfo, UnsupportedOp
from modelexport_exporter.call import BoundInputs, bind_inputs
from modelexport_exporter.checkpoint.load import LoadedModel, load_module, silent
from modelexport_exporter.convert.branches import ModelToCapture
from modelexport_exporter.convert.capture import capture
from modelexport_exporter.convert.capture_failure import inputs_mismatch, run_eagerly
from modelexport_exporter.convert.no_route import unsupported_in_trace
from modelexport_exporter.convert.program_dims import symbol_names
from modelexport_exporter.convert.weight_functions import with_computed_weights
from modelexport_exporter.core.diagnosis import (
    DiagnosedOp,
    DiagnosedPitfall,
    Diagnosis,
    RouteDiagnosis,
)
from modelexport_exporter.core.errors import ExportFailure, NotDeterministic
from modelexport_exporter.core.pitfall import CERTAIN, Pitfall, PitfallKind
from modelexport_exporter.core.types import ROUTES, ExportTask, ReportProgress, Rung
from modelexport_exporter.decompositions import decomposing, prepared, provided
from modelexport_exporter.diagnosis.enrich import enrich
from modelexport_exporter.diagnosis.explain import find_pitfalls
from modelexport_exporter.diagnosis.operators.in_program import (
    find_unsupported,
    unsupported_calls,
)
from modelexport_exporter.diagnosis.operators.skeleton import skeleton, skeleton_name
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.plugins.plugins import Plugins, load_plugins
from modelexport_exporter.user_code import set_orders
from modelexport_exporter.verification.order_of_sets import check_order_of_sets
from modelexport_exporter.verification.reference_model import load_reference_model
from modelexport_exporter.workers.export import Subject, convert
from modelexport_exporter.workers.stage_results import StageClock, parameters_of


@older_torch()
def diagnose_model(task: ExportTask, progress: ReportProgress) -> Diagnosis:
    """Return what would prevent the export. Raises ExportFailure if it cannot be examined."""
    clock = StageClock()
    set_orders.watch(task.spec.model, task.code_dir)
    with clock.stage(Stage.LOAD):
        plugins = load_plugins(task, progress)
        loaded = load_module(task, progress)
        bound_inputs = bind_inputs(task.spec, loaded.module, task.code_dir)
    clock.report(Stage.LOAD, parameters_of(loaded.module), progress)
    progress(Stage.CAPTURE, 0.0, "running the model")
    refused = run_eagerly(copy.deepcopy(loaded.module), bound_inputs)
    if refused is not None:
        raise inputs_mismatch(refused, loaded.module, bound_inputs, task.code_dir) from refused
    pitfalls = (
        *find_pitfalls(loaded.module, bound_inputs, task.code_dir),
        *_order_of_sets(task),
    )
    examination = _Examination(
        task, loaded, bound_inputs, plugins, pitfalls=pitfalls, progress=progress
    )
    routes = examination.diagnose_routes()
    predicted, attempt = predict_route(routes, pitfalls), None
    if predicted is None:
        attempt = examination.other_attempt(routes)
        predicted = ROUTES[attempt] if attempt else None
    return Diagnosis(
        format=loaded.format,
        factory=task.spec.model.factory if task.spec.model else None,
        model=type(loaded.module).__name__,
        parameters=sum(parameter.numel() for parameter in loaded.module.parameters()),
        call=describe_call(bound_inputs),
        inputs=[
            TensorInfo(name=entry.name, dtype=entry.dtype.value, shape=list(entry.shape))
            for entry in bound_inputs.spec.inputs
        ],
        dims=dict(task.spec.dims),
        routes=routes,
        pitfalls=[
            DiagnosedPitfall(
                kind=pitfall.kind,
                message=pitfall.message,
                source=pitfall.source,
                suggestion=pitfall.suggestion,
            )
            for pitfall in pitfalls
        ],
        predicted_route=predicted,
        predicted_attempt=attempt.value if attempt else None,
    )


def _order_of_sets(task: ExportTask) -> tuple[Pitfall, ...]:
    if not set_orders.lines_seen(task.code_dir):
        return ()
    try:
        check_order_of_sets(task, load_reference_model(task, silent))
    except NotDeterministic as found:
        kind = PitfallKind.NOT_DETERMINISTIC
        return (Pitfall(kind, found.message, found.sources[0], found.hint),)
    return ()


def predict_route(routes: Sequence[RouteDiagnosis], pitfalls: Sequence[Pitfall]) -> Exporter | None:
    """Return the first route without a known obstacle.

    A trace that differs at other inputs excludes the TorchScript route, although a script may still
    work, which only an export shows.
    """
    baked = any(pitfall.kind is PitfallKind.BAKED for pitfall in pitfalls)
    for route in routes:
        if route.is_open and not (baked and route.route is Exporter.TORCH_SCRIPT):
            return route.route
    return None


def describe_call(bound_inputs: BoundInputs) -> str:
    """Return `forward(Tensor, mask=Tensor)`."""
    args, kwargs = bound_inputs.call.example(bound_inputs.sizes.captured)
    parts = [_kind(value) for value in args]
    parts += [f"{name}={_kind(value)}" for name, value in kwargs.items()]
    return f"forward({', '.join(parts)})"


def _kind(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return "Tensor"
    if isinstance(value, list | tuple):
        inner = ", ".join(_kind(element) for element in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_kind(element)}" for key, element in value.items()) + "}"
    return repr(value)[:40]


class _Examination:
    """Examines a loaded model."""

    def __init__(
        self,
        task: ExportTask,
        loaded: LoadedModel,
        bound_inputs: BoundInputs,
        plugins: Plugins,
        *,
        pitfalls: tuple[Pitfall, ...],
        progress: ReportProgress,
    ) -> None:
        self._task = task
        self._loaded = loaded
        self._bound_inputs = bound_inputs
        self._plugins = plugins
        self._pitfalls = pitfalls
        self._progress = progress
        self._opset = task.spec.export.opset

    def diagnose_routes(self) -> list[RouteDiagnosis]:
        """Return the obstacles of each route that the manifest and the format allow."""
        asked = self._task.spec.export.exporter
        known = {
            Exporter.DYNAMO: self._unsupported_in_program,
            Exporter.TORCH_SCRIPT: self._unsupported_in_script,
        }
        only = {
            Format.TORCH_SCRIPT: Exporter.TORCH_SCRIPT,
            Format.EXPORTED_PROGRAM: Exporter.DYNAMO,
        }.get(self._loaded.format, asked)
        return [
            self._diagnose(route, find)
            for route, find in known.items()
            if only in {Exporter.AUTO, route}
        ]

    def other_attempt(self, routes: Sequence[RouteDiagnosis]) -> Rung | None:
        """Return the attempt that converts the model although both routes have obstacles.

        Those are a script, and several graphs in one file: for ranges of sizes, or for the sides
        of decisions. Whether the file is right is shown by an export only.
        """
        failed = {found.route: found.failure for found in routes if found.failure is not None}
        captured = failed.get(Exporter.DYNAMO)
        asked = {found.route for found in routes if not found.unsupported}
        kinds = {pitfall.kind for pitfall in self._pitfalls}
        by_size = captured is not None and (
            captured.reason is Reason.DYNAMIC_DIM_SPECIALIZED or PitfallKind.SIZE_BRANCH in kinds
        )
        rungs = {
            Rung.SCRIPT: Exporter.TORCH_SCRIPT in asked,
            Rung.DYNAMO_BY_SIZE: by_size,
            Rung.DYNAMO_BY_VALUE: captured is not None and captured.reason is Reason.CAPTURE_FAILED,
        }
        return next((rung for rung, open_ in rungs.items() if open_ and self._converts(rung)), None)

    def _converts(self, rung: Rung) -> bool:
        self._progress(Stage.CONVERT, 0.5, f"trying {rung.value}")
        with TemporaryDirectory(prefix="diagnose-") as directory:
            task = replace(self._task, rung=rung, output_dir=Path(directory))
            loaded = replace(self._loaded, module=copy.deepcopy(self._loaded.module))
            subject = Subject(task, loaded, self._bound_inputs, self._plugins)
            try:
                convert(subject, None, StageClock(), self._progress)
            except Exception:  # noqa: BLE001 - whatever it is, the attempt does not convert it
                return False
        return True

    def _diagnose(self, route: Exporter, find: Callable[[], list[UnsupportedOp]]) -> RouteDiagnosis:
        self._progress(Stage.CAPTURE, 0.5, f"checking the {route.value} route")
        try:
            unsupported = find()
        except ExportFailure as failure:
            static = [found for found in self._pitfalls if found.kind not in CERTAIN]
            described = enrich(failure, static).describe(Stage.CAPTURE)
            return RouteDiagnosis(route=route, failure=described)
        return RouteDiagnosis(route=route, unsupported=[_with_skeleton(op) for op in unsupported])

    def _unsupported_in_program(self) -> list[UnsupportedOp]:
        spec, code_dir = self._bound_inputs.spec, self._task.code_dir
        program = self._loaded.program or capture(self._loaded.module, self._bound_inputs, code_dir)
        program = prepared(self._plugins.decompose(program), self._plugins.left_alone)
        symbol_names(program, spec)
        translated = self._plugins.translated

        def find() -> list[UnsupportedOp]:
            return find_unsupported(
                program,
                self._opset,
                code_dir,
                translated=translated,
                provided=provided(),
                disabled=spec.export.rewrites.disabled,
            )

        with decomposing(self._plugins.left_alone):
            found = find()
            if found and with_computed_weights(
                program, unsupported_calls(program, self._opset, translated)
            ):
                return find()
            return found

    def _unsupported_in_script(self) -> list[UnsupportedOp]:
        return unsupported_in_trace(
            ModelToCapture(
                self._loaded.module, self._bound_inputs, self._plugins, self._task.code_dir
            )
        )


def _with_skeleton(op: UnsupportedOp) -> DiagnosedOp:
    return DiagnosedOp(
        **op.model_dump(), skeleton_file=skeleton_name(op.name), skeleton=skeleton(op.name)
    )
