"""Results of runs that the tests of status and summary share."""

from __future__ import annotations

from modelexport_api.items import ShareCounts
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.status import Artifact, Failure, Stage, Verdict, VerificationResult

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
TOO_MANY = Failure(reason=Reason.TOO_MANY_FAILED, message="1 of 4 failed", hint="Look.")


def batch(failed: int, failure: Failure | None = None) -> PodResult:
    """Return the result of a batch of four."""
    return PodResult(
        outcome="Failed" if failure else "Succeeded",
        failure=failure,
        completed=list(Stage),
        share=ShareCounts(
            share=0,
            batch_total=4,
            share_total=4,
            succeeded=4 - failed,
            failed=failed,
            reasons={"CheckpointCorrupt": failed} if failed else {},
            results_uri="s3://o/batches/x/results.json",
        ),
        report_uri="file:///o/batches/x/index.html",
    )
