"""The status that `modelexport run` prints is the one that the resource would get."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from modelexport_api.conditions import stages_of
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.spec import Mode
from modelexport_api.status import Failure, Phase, Stage
from modelexport_cli.status import status_of
from unit.cli.results import FAILED, SUCCEEDED, TOO_MANY, batch

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def conditions(result: PodResult) -> dict[str, str]:
    status = status_of(result, NOW, NOW, 3)
    return {condition.type: condition.status for condition in status.conditions}


def test_a_success_makes_every_condition_true() -> None:
    assert status_of(SUCCEEDED, NOW, NOW, 3).phase is Phase.SUCCEEDED
    assert conditions(SUCCEEDED) == {
        "Exported": "True",
        "Verified": "True",
        "Published": "True",
        "Complete": "True",
    }


def test_a_failure_makes_only_completed_stages_true() -> None:
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
def test_reasons_are_those_of_the_operator(result: PodResult, reasons: list[str]) -> None:
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
def test_mode_verify_requests_no_export_and_no_publication(
    result: PodResult, verified: tuple[str, str], end: tuple[str, str]
) -> None:
    status = status_of(result, NOW, NOW, 3, Mode.VERIFY)
    assert [(c.type, c.status, c.reason) for c in status.conditions] == [
        ("Exported", "False", "NotRequested"),
        ("Verified", *verified),
        ("Published", "False", "NotRequested"),
        (end[0], "True", end[1]),
    ]


@pytest.mark.parametrize(
    ("result", "mode", "phase", "reasons"),
    [
        (
            batch(0),
            Mode.EXPORT,
            Phase.SUCCEEDED,
            ["Exported", "Verified", "Published", "Published"],
        ),
        (
            batch(1),
            Mode.EXPORT,
            Phase.SUCCEEDED,
            [f"Partially{word}" for word in ("Exported", "Verified", "Published", "Published")],
        ),
        (batch(1, TOO_MANY), Mode.EXPORT, Phase.FAILED, ["TooManyFailed"] * 4),
        (
            batch(0),
            Mode.VERIFY,
            Phase.SUCCEEDED,
            ["NotRequested", "Verified", "NotRequested", "Verified"],
        ),
    ],
    ids=["all", "some", "too many", "mode Verify"],
)
def test_a_batch_counts_its_checkpoints(
    result: PodResult, mode: Mode, phase: Phase, reasons: list[str]
) -> None:
    status = status_of(result, NOW, NOW, 1, mode)
    assert status.phase is phase
    assert [condition.reason for condition in status.conditions] == reasons
    assert status.conditions[-1].status == "True"
    assert status.items is not None
    assert status.items.total == 4
    assert status.items.results_uri == "s3://o/batches/x/results.json"


def test_a_batch_that_did_not_start_has_no_items() -> None:
    failure = Failure(reason=Reason.NOTHING_MATCHED, message="nothing", stage=Stage.FETCH)
    status = status_of(PodResult(outcome="Failed", failure=failure), NOW, NOW, 1)
    assert status.items is None
    assert [(c.type, c.status, c.reason) for c in status.conditions] == [
        ("Exported", "False", "NothingMatched"),
        ("Verified", "False", "NotReached"),
        ("Published", "False", "NotReached"),
        ("Failed", "True", "NothingMatched"),
    ]
