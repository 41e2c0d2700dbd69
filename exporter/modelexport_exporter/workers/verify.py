"""Verification in one process, which also runs the model's code: for tests and studies.

An export uses two (`judge`, `reference`), so that the model's code cannot change the verdict.
"""

from __future__ import annotations

import time
from pathlib import Path

from modelexport_api.spec import Provider
from modelexport_api.status import Stage
from modelexport_exporter.core.machine import free_large_blocks_at_once
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress
from modelexport_exporter.plugins.legacy.older_torch import older_torch
from modelexport_exporter.verification.reference_model import (
    ReferenceModel,
    as_verification,
    load_reference_model,
)
from modelexport_exporter.verification.runtime.session import Session
from modelexport_exporter.workers.judgement import judge_file
from modelexport_exporter.workers.local_original import LocalOriginal


@older_torch()
def verify_model(
    task: ExportTask,
    converted: ConvertedModel,
    progress: ReportProgress,
    model: ReferenceModel | None = None,
) -> VerificationOutcome:
    """Compare both on every sample that the budget allows. Raises ExportFailure.

    `model`: the original one, if it is loaded and was not called yet.
    """
    started = time.monotonic()
    free_large_blocks_at_once()
    if model is None:
        progress(Stage.VERIFY, 0.0, "loading the original module")
        model = load_reference_model(task, as_verification(progress))
    setup = model.plugins.session_setup()

    def open_file(path: Path, provider: Provider, *, prepack: bool) -> Session:
        return Session(path, provider, prepack=prepack, setup=setup)

    return judge_file(task, converted, LocalOriginal(task, model), open_file, progress, started)
