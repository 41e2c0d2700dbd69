"""Finds what a model takes: in a worker process, since it runs the user's code."""

from __future__ import annotations

from modelexport_exporter.call.user_example import example_arguments
from modelexport_exporter.checkpoint.load import load_module
from modelexport_exporter.core.proposal import Proposal, Stated
from modelexport_exporter.core.types import ExportTask, ReportProgress
from modelexport_exporter.inference.infer import infer
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.plugins.plugins import load_plugins


@older_torch()
def infer_inputs(task: ExportTask, stated: Stated, progress: ReportProgress) -> Proposal:
    """Return the inputs and dims of the task's model. Raises ExportFailure."""
    load_plugins(task, progress)
    loaded = load_module(task, progress)
    model = task.spec.model
    path = model.example_inputs if model is not None else None
    arguments = example_arguments(path, task.code_dir) if path is not None else None
    return infer(loaded, stated, task.checkpoint, progress, arguments, code_dir=task.code_dir)
