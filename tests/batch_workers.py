"""Workers whose checkpoint says what they do; every export leaves a line in a file.

`model.kwargs.log` names the file. A checkpoint that begins with `corrupt` is refused, one with
`hang` never ends.
"""

from __future__ import annotations

import time
from pathlib import Path

import small_workers
from killed_run import Entries
from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress

SETTINGS = Entries(export_entry="batch_workers:export", verify_entry="small_workers:verify")
PRELOAD = ("batch_workers",)


def export(task: ExportTask, report: ReportProgress) -> ConvertedModel:
    """Write down that it began, then do what the checkpoint says."""
    content = task.checkpoint.read_text()
    assert task.spec.model is not None
    with Path(str(task.spec.model.kwargs["log"])).open("a") as log:
        log.write(f"{content}\n")
    word = content.partition(" ")[0]
    if word == "hang":
        time.sleep(600)
    if word == "corrupt":
        raise ExportFailure(Reason.CHECKPOINT_CORRUPT, "it is garbage", stage=Stage.LOAD)
    plain = task.spec.model.model_copy(update={"kwargs": {}})
    spec = task.spec.model_copy(update={"model": plain})
    return small_workers.export(type(task)(**{**vars(task), "spec": spec}), report)
