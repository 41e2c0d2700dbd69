from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

from modelexport_api.conditions import stages_of
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.spec import Mode
from modelexport_api.status import Artifact, Failure, Phase, Stage, Verdict, VerificationResult
from modelexport_cli.outcome import status_of
from modelexport_cli.verdict import print_result

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SUCCEEDED = PodResult(
    outcome="Succeeded",
    artifact=Artifact(
        uri="file:///home/me/a%20model/model.onnx",
        sha256="d",
        size_bytes=2_500_000,
        opset=20,
        ir_version=10,
        exporter="Dynamo (torch 2.15.0)",
        inputs=[],
        outputs=[],
    ),
    verification=VerificationResult(
        verdict=Verdict.VERIFIED,
        provider="CPU",
        samples=8,
        max_abs_error=1e-6,
        max_rel_error=2e-7,
        limit_share=0.25,
        tolerance_source="Default",
    ),
    completed=list(Stage),
    report_uri="file:///home/me/a%20model/report.json",
)
FAILED = PodResult(
    outcome="Failed",
    completed=[Stage.FETCH, Stage.LOAD, Stage.CAPTURE, Stage.CONVERT, Stage.CONTRACT],
    failure=Failure(
        reason=Reason.VERIFICATION_FAILED, message="off", hint="look", stage=Stage.VERIFY
    ),
    report_uri="s3://b/out/failed/m-0/report.json",
)


def conditions(result: PodResult) -> dict[str, str]:
    status = status_of(result, NOW, NOW, 3)
    return {condition.type: condition.status for condition in status.conditions}


def test_success() -> None:
    assert status_of(SUCCEEDED, NOW, NOW, 3).phase is Phase.SUCCEEDED
    assert conditions(SUCCEEDED) == {
        "Exported": "True",
        "Verified": "True",
        "Published": "True",
        "Complete": "True",
    }


def test_failure_says_how_far_it_came() -> None:
    assert status_of(FAILED, NOW, NOW, 3).phase is Phase.FAILED
    assert conditions(FAILED) == {
        "Exported": "True",
        "Verified": "False",
        "Published": "False",
        "Failed": "True",
    }


@pytest.mark.parametrize(
    ("result", "reasons"),
    [
        (SUCCEEDED, ["Exported", "Verified", "Published", "Published"]),
        (FAILED, ["Exported", "VerificationFailed", "NotReached", "VerificationFailed"]),
    ],
    ids=["success", "failure"],
)
def test_reasons_are_those_that_the_resource_would_get(
    result: PodResult, reasons: list[str]
) -> None:
    assert [entry.reason for entry in status_of(result, NOW, NOW, 3).conditions] == reasons


CHECKED = SUCCEEDED.model_copy(update={"completed": list(stages_of(Mode.VERIFY))})
NOT_FOUND = PodResult(
    outcome="Failed",
    failure=Failure(reason=Reason.ARTIFACT_INVALID, message="gone", stage=Stage.FETCH),
)


@pytest.mark.parametrize(
    ("result", "verified", "end"),
    [
        (CHECKED, ("True", "Verified"), ("Complete", "Verified")),
        (FAILED, ("False", "VerificationFailed"), ("Failed", "VerificationFailed")),
        (NOT_FOUND, ("False", "ArtifactInvalid"), ("Failed", "ArtifactInvalid")),
    ],
    ids=["verified", "mismatch", "not found"],
)
def test_a_verification_neither_exports_nor_publishes(
    result: PodResult, verified: tuple[str, str], end: tuple[str, str]
) -> None:
    status = status_of(result, NOW, NOW, 3, Mode.VERIFY)
    assert [(c.type, c.status, c.reason) for c in status.conditions] == [
        ("Exported", "False", "NotRequested"),
        ("Verified", *verified),
        ("Published", "False", "NotRequested"),
        (end[0], "True", end[1]),
    ]


def shown(result: PodResult) -> str:
    stream = io.StringIO()
    print_result(result, 12.34, stream, "m")
    return stream.getvalue()


def test_a_person_sees_verdict_artifact_and_reports() -> None:
    assert shown(SUCCEEDED).splitlines() == [
        "✓ Verified  m in 12.3 s",
        "  Error     at worst 1/4 of the limit (2.0e-7 relative)",
        "  Samples   8 on CPU, all agree with eager PyTorch",
        "  Artifact  /home/me/a model/model.onnx",
        "            2.5 MB, opset 20, Dynamo (torch 2.15.0)",
        "  Report    /home/me/a model/report.html",
        "            /home/me/a model/report.json",
    ]


def test_a_person_sees_reason_message_hint_and_reports() -> None:
    assert shown(FAILED).splitlines() == [
        "✗ Failed    m: VerificationFailed in Verify, after 12.3 s",
        "  Why       off",
        "  To do     look",
        "  Report    s3://b/out/failed/m-0/report.html",
        "            s3://b/out/failed/m-0/report.json",
    ]


def test_a_stream_without_unicode_gets_ascii() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    print_result(FAILED, 12.34, stream, "m")
    stream.seek(0)
    assert stream.read().startswith("x Failed    m: VerificationFailed")
