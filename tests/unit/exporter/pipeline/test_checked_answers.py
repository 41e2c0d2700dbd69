"""A worker speaks of its own file, and of nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Verdict, VerificationResult
from modelexport_exporter.core.blame import Blame, ReproFile
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, WrittenFile
from modelexport_exporter.pipeline.checked_answers import (
    check_export,
    check_reading,
    check_verification,
)

DIRECTORY = Path("/work/output-0")
DIGEST = "0123456789ab" * 5 + "0123"
MODEL = WrittenFile("model.onnx", 1, "a")
DATA = WrittenFile("model.0123456789ab.data", 2, DIGEST)
CONVERTED = ConvertedModel(
    model_path=DIRECTORY / "model.onnx",
    files=(DATA, MODEL),
    opset=20,
    ir_version=10,
    exporter="Dynamo",
    inputs=(),
    outputs=(),
    op_counts={},
    seconds={"Load": 0.5},
)
OUTCOME = VerificationOutcome(
    summary=VerificationResult(
        verdict=Verdict.VERIFIED,
        provider="CPU",
        samples=1,
        max_abs_error=0,
        max_rel_error=0,
        tolerance_source="Default",
    ),
    samples=(),
    seconds=0.5,
)
NEW_MODEL = replace(MODEL, sha256="c")


def test_honest_answers() -> None:
    check_export(CONVERTED, DIRECTORY)
    check_reading(CONVERTED, CONVERTED.model_path, CONVERTED.files)
    check_verification(OUTCOME, CONVERTED)
    again = replace(CONVERTED, files=(DATA, NEW_MODEL))
    repro = Blame("n", repro=(ReproFile("repro.py", b""),))
    check_verification(replace(OUTCOME, converted=again, blame=repro), CONVERTED)


@pytest.mark.parametrize(
    "converted",
    [
        replace(CONVERTED, model_path=Path("/etc/passwd")),
        replace(CONVERTED, model_path=DIRECTORY / ".." / "model.onnx"),
        replace(CONVERTED, files=(MODEL, replace(DATA, name="../x"))),
        replace(CONVERTED, seconds={"Lunch": 1.0}),
    ],
)
def test_an_export_of_something_else(converted: ConvertedModel) -> None:
    with pytest.raises(ExportFailure) as caught:
        check_export(converted, DIRECTORY)
    assert caught.value.reason is Reason.WORKER_ANSWER_INVALID


@pytest.mark.parametrize(
    "converted",
    [
        replace(CONVERTED, model_path=DIRECTORY / "other.onnx"),
        replace(CONVERTED, files=(DATA, NEW_MODEL)),
    ],
)
def test_a_reading_of_something_else(converted: ConvertedModel) -> None:
    with pytest.raises(ExportFailure) as caught:
        check_reading(converted, CONVERTED.model_path, CONVERTED.files)
    assert caught.value.reason is Reason.WORKER_ANSWER_INVALID


@pytest.mark.parametrize(
    "outcome",
    [
        replace(OUTCOME, blame=Blame("n", repro=(ReproFile("../manifest.json", b""),))),
        replace(OUTCOME, converted=replace(CONVERTED, model_path=Path("/etc/passwd"))),
        replace(OUTCOME, converted=replace(CONVERTED, files=(MODEL,))),
        replace(OUTCOME, converted=replace(CONVERTED, files=(MODEL, replace(DATA, sha256="c")))),
    ],
)
def test_a_verification_of_something_else(outcome: VerificationOutcome) -> None:
    with pytest.raises(ExportFailure) as caught:
        check_verification(outcome, CONVERTED)
    assert caught.value.reason is Reason.WORKER_ANSWER_INVALID
