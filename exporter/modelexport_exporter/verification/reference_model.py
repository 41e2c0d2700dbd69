"""The original module on the device of its file, for verification and for the benchmark.

Both use the same provider, plugins, threads and precision of matrix products on both sides.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import torch

from modelexport_api.spec import Provider
from modelexport_api.status import Stage
from modelexport_exporter.call import NUMBERS, BoundInputs, bind_inputs
from modelexport_exporter.call.module_state import ModuleState
from modelexport_exporter.checkpoint.load import load_module
from modelexport_exporter.core.dims import DimSizes, is_dynamic
from modelexport_exporter.core.machine import thread_count
from modelexport_exporter.core.providers import GPU, TF32_OFF, choose_provider
from modelexport_exporter.core.types import ExportTask, ReportProgress
from modelexport_exporter.plugins.plugins import Plugins, load_plugins
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.samples.inferred_ranges import infer_ranges, needs_ranges
from modelexport_exporter.verification.shapes.eager_shapes import eager_shapes
from modelexport_exporter.verification.shapes.observed import EagerShapes


@dataclass(frozen=True)
class ReferenceModel:
    """The module with its weights, and the provider and plugins that its file runs with."""

    provider: Provider
    plugins: Plugins
    module: torch.nn.Module
    bound_inputs: BoundInputs
    reference: EagerReference
    before: ModuleState
    """That of the module before its first call."""
    eager_shapes: EagerShapes | None = None
    """The shapes that the module returns; None: not prepared."""

    @property
    def on_gpu(self) -> bool:
        """Return whether the file runs on a GPU."""
        return self.provider in GPU


def load_reference_model(task: ExportTask, progress: ReportProgress) -> ReferenceModel:
    """Load the task's checkpoint in the process that calls it. Raises ExportFailure."""
    torch.set_num_threads(thread_count())
    provider = choose_provider(
        task.spec.verification.provider, torch.cuda.is_available(), task.spec.export.precision
    )
    if provider in GPU:
        os.environ.update((TF32_OFF,))
    plugins = load_plugins(task, progress)
    module = load_module(task, progress).module
    before = ModuleState(module)
    bound_inputs = _with_ranges(bind_inputs(task.spec, module, task.code_dir), module)
    device = "cuda" if provider in GPU else "cpu"
    reference = EagerReference(module, bound_inputs.call, device=device, code_dir=task.code_dir)
    return ReferenceModel(provider, plugins, module, bound_inputs, reference, before)


def prepare_shapes(model: ReferenceModel) -> ReferenceModel:
    """Return the model with the shapes that it returns at sizes between its minima and maxima.

    Not for models that take numbers, whose shapes may depend on them.
    """
    call, spec = model.bound_inputs.call, model.bound_inputs.spec
    fixed = not any(is_dynamic(dim) for dim in spec.dims.values())
    if fixed or any(entry.kind in NUMBERS for entry in call.inputs):
        return model
    reference = model.reference
    shapes = eager_shapes(model.module, call, {}, reference.device, reference.without_caches)
    shapes(DimSizes.of(spec).between)
    return replace(model, eager_shapes=shapes)


def _with_ranges(bound: BoundInputs, module: torch.nn.Module) -> BoundInputs:
    """Return the inputs, with ranges that were searched for.

    Searched on the CPU: an index that a GPU refuses ends the process.
    """
    if bound.spec.verification.sampler is not None or not needs_ranges(bound.spec):
        return bound
    reference = EagerReference(module, bound.call)
    found = infer_ranges(bound.spec, reference.accepts, reference.integers_only)
    return replace(bound, spec=found)


def as_verification(progress: ReportProgress) -> ReportProgress:
    """Return a reporter for the second load of the model, as a part of this stage."""
    return lambda _stage, _fraction, message: progress(Stage.VERIFY, 0.0, message)
