"""The route: attempts, their reasons, and where the time went."""

from __future__ import annotations

from modelexport_exporter.report.route import route_of
from unit.exporter.report.reports import (
    SPACE,
    failed,
    report,
)


def test_route_lists_tried_rungs_with_reason_and_time() -> None:
    failure = {"reason": "CaptureFailed", "message": "no graph", "stage": "Capture"}
    found = route_of(
        report(
            attempts=[
                {"rung": "Dynamo", "seconds": 1.0, "outcome": "Failed", "failure": failure},
                {"rung": "Script", "seconds": 2.0, "outcome": "Deferred"},
                {"rung": "Trace", "seconds": 4.0, "outcome": "Verified"},
            ]
        )
    )
    assert [(rung.outcome, rung.reason, rung.width) for rung in found.rungs] == [
        ("failed in Capture", "CaptureFailed", 25.0),
        ("deferred to the other route", "", 50.0),
        ("verified", "", 100.0),
    ]
    assert [(stage.name, stage.note, stage.seconds) for stage in found.stages] == [
        ("Fetch", "", f"500{SPACE}ms"),
        ("attempt 1: Dynamo", "failed in Capture", f"1.0{SPACE}s"),
        ("attempt 2: Script", "deferred to the other route", f"2.0{SPACE}s"),
        ("Verify", "", f"2.0{SPACE}s"),
        ("everything else", "", f"7.0{SPACE}s"),
    ]
    assert found.took == f"12.5{SPACE}s"


def test_the_time_of_a_failed_run_adds_up() -> None:
    failure = {"reason": "VerificationFailed", "message": "no", "stage": "Verify"}
    tried = {"rung": "Dynamo", "seconds": 9.0, "outcome": "Failed", "failure": failure}
    found = route_of(failed("VerificationFailed", attempts=[tried], failure=failure))
    assert [(stage.name, stage.note, stage.seconds) for stage in found.stages] == [
        ("Fetch", "", f"500{SPACE}ms"),
        ("attempt 1: Dynamo", "failed in Verify", f"9.0{SPACE}s"),
        ("everything else", "", f"3.0{SPACE}s"),
    ]


def test_a_stage_that_failed_before_any_attempt_has_the_rest_of_the_time() -> None:
    found = route_of(failed("SourceNotFound", failure={"stage": "Fetch"}, stages=[]))
    assert [(stage.name, stage.seconds) for stage in found.stages] == [("Fetch", f"12.5{SPACE}s")]
    assert found.stages[0].note.startswith("failed")
