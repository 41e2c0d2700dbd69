"""The product's workers, in a process that may take so much more address space than it has.

The resident part is forked from a server that has imported torch: what it takes is the file's.
"""

from __future__ import annotations

from chaos.hostile_files.trial import limit_address_space
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.verify import verify_model


def export(task: ExportTask, report: ReportProgress) -> ConvertedModel:
    """Export within the limit."""
    limit_address_space()
    return export_model(task, report)


def verify(
    task: ExportTask, converted: ConvertedModel, report: ReportProgress
) -> VerificationOutcome:
    """Verify within the limit."""
    limit_address_space()
    return verify_model(task, converted, report)
