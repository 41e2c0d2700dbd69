"""What a report says after several attempts: of which file, and how long its stages took."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.status import Failure, Stage, Verdict, VerificationResult
from modelexport_exporter.core.attempt import Attempt
from modelexport_exporter.core.comparison import SampleComparison
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, Rung, WrittenFile
from modelexport_exporter.report.record import Record
from modelexport_exporter.storage.files import FileStore
from modelexport_exporter.storage.store import Location, Role

RESOURCE = ModelExport.model_validate(
    {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "m"},
        "spec": {
            "source": {"uri": "s3://a/b.pt"},
            "inputs": [{"name": "x"}],
            "destination": {"uri": "s3://a/out/"},
        },
    }
)


def made(exporter: str, **seconds: float) -> ConvertedModel:
    return ConvertedModel(
        model_path=Path("model.onnx"),
        files=(WrittenFile("model.onnx", 10, "ab"),),
        opset=20,
        ir_version=10,
        exporter=exporter,
        inputs=(),
        outputs=(),
        op_counts={exporter: 1},
        seconds=seconds,
    )


def compared(*seeds: int) -> VerificationOutcome:
    summary = VerificationResult(
        verdict=Verdict.MISMATCH,
        provider="CPU",
        samples=len(seeds),
        max_abs_error=1.0,
        max_rel_error=1.0,
        tolerance_source="Default",
    )
    return VerificationOutcome(summary, tuple(SampleComparison({}, s, ()) for s in seeds), 1.0)


def ended(rung: Rung, reason: Reason, stage: Stage) -> Attempt:
    return Attempt(rung, 1.0, Failure(reason=reason, message="no", stage=stage))


@pytest.fixture
def destination(tmp_path: Path) -> Location:
    return Location(FileStore(Role.ARTIFACT), str(tmp_path))


def test_a_failure_is_reported_with_the_file_that_it_is_of(destination: Location) -> None:
    record = Record(RESOURCE)
    record.begin_attempt()
    record.add_export(made("first"))
    record.add_verification(compared(1, 2))
    record.end_attempt(ended(Rung.DYNAMO, Reason.VERIFICATION_FAILED, Stage.VERIFY))
    record.begin_attempt()
    record.add_export(made("second"))
    record.end_attempt(ended(Rung.TRACE, Reason.RUNTIME_FAILED, Stage.VERIFY))
    failure = Failure(reason=Reason.VERIFICATION_FAILED, message="no", stage=Stage.VERIFY)

    report = record.report(destination, failure)

    assert report.unpublished is not None
    assert report.unpublished.exporter == "first"
    assert report.operators == {"first": 1}
    assert [sample.seed for sample in report.samples] == [1, 2]


def test_a_failure_before_the_file_shows_none_of_another_attempt(destination: Location) -> None:
    record = Record(RESOURCE)
    record.begin_attempt()
    record.add_export(made("first"))
    record.add_verification(compared(1))
    record.end_attempt(ended(Rung.DYNAMO, Reason.VERIFICATION_FAILED, Stage.VERIFY))
    record.begin_attempt()
    record.end_attempt(ended(Rung.TRACE, Reason.CAPTURE_FAILED, Stage.CAPTURE))
    failure = Failure(reason=Reason.CAPTURE_FAILED, message="no", stage=Stage.CAPTURE)

    report = record.report(destination, failure)

    assert report.unpublished is None
    assert (report.samples, report.operators, report.verification) == ([], {}, None)


def test_stages_are_those_of_the_last_attempt(destination: Location) -> None:
    record = Record(RESOURCE)
    record.seconds[Stage.FETCH] = 0.5
    record.begin_attempt()
    record.add_export(made("first", Capture=3.0, Convert=1.0))
    record.end_attempt(ended(Rung.DYNAMO, Reason.RUNTIME_FAILED, Stage.VERIFY))
    record.begin_attempt()
    record.add_export(made("second", Convert=2.0))
    stages = record.report(destination).stages
    assert [(stage.stage, stage.seconds) for stage in stages] == [
        (Stage.FETCH, 0.5),
        (Stage.CONVERT, 2.0),
    ]
