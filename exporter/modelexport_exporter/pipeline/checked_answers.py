"""What the supervisor believes of a worker's answer beyond its type: whose files it names. Pure.

An answer decides which files are read, uploaded and named in reports, so a worker may only speak of
the file that it was asked for, and of what an artifact consists of.
"""

from __future__ import annotations

from pathlib import Path

from modelexport_api.status import Stage
from modelexport_exporter.core.blame import REPRO_NAMES
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, WrittenFile
from modelexport_exporter.isolation.death import invalid_answer
from modelexport_exporter.publish.layout import MODEL_NAME
from modelexport_exporter.publish.written_files import check_names


def check_export(converted: ConvertedModel, directory: Path) -> None:
    """Raise ExportFailure unless it is a file of ours in the directory of the export."""
    check_names(converted.files)
    _check_description(converted, directory / MODEL_NAME)


def check_reading(converted: ConvertedModel, path: Path, files: tuple[WrittenFile, ...]) -> None:
    """Raise ExportFailure unless it describes the existing file that was to be read."""
    _check_description(converted, path)
    if converted.files != files:
        raise invalid_answer("other files than those that were to be read", Stage.CONTRACT)


def check_verification(outcome: VerificationOutcome, converted: ConvertedModel) -> None:
    """Raise ExportFailure unless it is about this file, of which only the model's may be new."""
    repro = outcome.blame.repro if outcome.blame else ()
    if any(file.name not in REPRO_NAMES for file in repro):
        raise invalid_answer("a repro of other files than its own", Stage.VERIFY)
    if outcome.converted is None:
        return
    _check_description(outcome.converted, converted.model_path)
    model = converted.model_path.name
    if _names(outcome.converted) != _names(converted) or _data(outcome.converted, model) != _data(
        converted, model
    ):
        raise invalid_answer("other external data than that of the export", Stage.VERIFY)


def _check_description(converted: ConvertedModel, path: Path) -> None:
    if converted.model_path != path:
        raise invalid_answer(f"the file {str(converted.model_path)[:200]!r}", None)
    if not {*converted.seconds} <= {*Stage}:
        raise invalid_answer("times of unknown stages", None)


def _names(converted: ConvertedModel) -> list[str]:
    return sorted(file.name for file in converted.files)


def _data(converted: ConvertedModel, model: str) -> set[WrittenFile]:
    return {file for file in converted.files if file.name != model}
