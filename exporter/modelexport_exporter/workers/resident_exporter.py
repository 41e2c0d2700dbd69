"""Resident export worker; reuses the translated graph for further checkpoints of the same model.

User code that runs on import or when the module is built runs once in this process, for all of
them; if that makes a difference, verification finds it.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Format
from modelexport_api.status import Stage
from modelexport_exporter.call import BoundInputs
from modelexport_exporter.checkpoint.load import load_module
from modelexport_exporter.convert.dynamo import Translation, finish
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.machine import free_unused, sharing_cpus, thread_count
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress, Rung
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.plugins.plugins import Plugins
from modelexport_exporter.workers.export import (
    Subject,
    check,
    export,
    optimizes,
    write,
)
from modelexport_exporter.workers.graph_template import Template
from modelexport_exporter.workers.stage_results import StageClock


@dataclass(frozen=True)
class _Family:
    """What the checkpoints of one model share."""

    template: Template
    bound_inputs: BoundInputs
    plugins: Plugins
    rung: Rung


class ResidentExporter:
    """Exports checkpoints of one model."""

    def __init__(self) -> None:
        self._family: _Family | None = None

    @older_torch()
    def export(self, task: ExportTask, progress: ReportProgress) -> ConvertedModel:
        """Do what `export_model` does, and keep the graph. Raises ExportFailure."""
        try:
            return export(task, progress, self._keep)
        finally:
            free_unused()
            # What was imported until now stays: exclude it from garbage collection.
            gc.freeze()

    def _keep(self, subject: Subject, translation: Translation) -> None:
        if translation.of_these_weights:
            self._family = None
        elif subject.loaded.format is not Format.EXPORTED_PROGRAM:
            template = Template.of(translation, subject.loaded.module)
            rung = subject.task.rung
            self._family = _Family(template, subject.bound_inputs, subject.plugins, rung)

    @older_torch()
    def rebind(self, task: ExportTask, progress: ReportProgress) -> ConvertedModel:
        """Export another checkpoint by the kept graph.

        Raises ExportFailure if the graph does not fit, and as `export_model` does.
        """
        family = self._family
        if family is None:
            raise ExportFailure(Reason.CONVERSION_FAILED, "no graph was kept")
        # The previous checkpoint is verified at the same time.
        with sharing_cpus(2):
            torch.set_num_threads(thread_count())
        try:
            return self._rebind(family, task, progress)
        finally:
            free_unused()

    def _rebind(
        self, family: _Family, task: ExportTask, progress: ReportProgress
    ) -> ConvertedModel:
        clock = StageClock()
        with clock.stage(Stage.LOAD):
            loaded = load_module(task, progress)
        task = replace(task, rung=family.rung)
        subject = Subject(task, loaded, family.bound_inputs, family.plugins)
        with clock.stage(Stage.CONVERT):
            progress(Stage.CONVERT, 0.0, "binding the weights to the translated graph")
            model = finish(family.template.bind(loaded.module), optimize=optimizes(task))
            progress(Stage.CONVERT, 0.6, "writing the model")
            written = write(model, subject)
        return check(subject, written, clock, progress)
