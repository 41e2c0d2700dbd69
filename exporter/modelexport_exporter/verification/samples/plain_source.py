"""The samples of a task that do not depend on its file."""

from __future__ import annotations

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call.user_sampler import sampler_of
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.verification.samples.sample_source import SampleSource


def plain_source(task: ExportTask, spec: ModelExportSpec) -> SampleSource:
    """Return the source without golden samples and injected values. Raises ExportFailure."""
    sampler = sampler_of(spec, task.code_dir)
    return SampleSource(spec, sampler=sampler, proven_graph=task.proven_graph)
