"""The verdict at the top of the page: its word, its sentence, what to do."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.reasons import EXIT_CODES, Reason
from modelexport_exporter.report.page import page_of
from modelexport_exporter.report.verdict import Tone, trouble_of, verdict_of
from unit.exporter.report.reports import (
    SPACE,
    failed,
    report,
    spec,
    verification,
)


def test_a_success_says_how_far_from_the_limit_it_is() -> None:
    verdict = verdict_of(report())
    assert (verdict.tone, verdict.word, verdict.reason) == (Tone.GOOD, "Verified", "")
    assert verdict.sentence == (
        f"The ONNX file computes what the model computes: 2{SPACE}samples on CPU agree with eager "
        "PyTorch. The largest error is 1/100 of the tolerance."
    )
    facts = {fact.label: (fact.value, fact.more) for fact in verdict.facts}
    assert facts["Samples"] == ("2", "all agree")
    assert facts["Took"] == (f"12.5{SPACE}s", f"521{SPACE}MB at the peak")


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (
            {"landlockAbi": 7, "seccomp": True, "network": "Closed"},
            [("isolation of the model's code", "Landlock ABI 7, seccomp, network closed")],
        ),
        (
            {"network": "Open", "missing": ["files, signals: none"]},
            [
                ("isolation of the model's code", "network open"),
                ("not in force", "files, signals: none"),
            ],
        ),
        (None, []),
    ],
)
def test_how_the_model_s_code_was_isolated(
    found: dict[str, Any] | None, shown: list[tuple[str, str]]
) -> None:
    page = page_of(report(verification=verification(isolation=found)))
    pairs = [(pair.name, pair.value) for pair in page.environment]
    after = pairs.index(("peak memory", f"521{SPACE}MB")) + 1
    assert pairs[after:] == shown


@pytest.mark.parametrize("reason", EXIT_CODES)
def test_every_reason_has_words(reason: Reason) -> None:
    verdict = verdict_of(failed(reason.value))
    assert verdict.reason == reason.value
    assert verdict.word not in {"", "Verified"}
    assert verdict.sentence.endswith(". Nothing was published.")


@pytest.mark.parametrize(
    ("reason", "tone", "word"),
    [
        ("VerificationFailed", Tone.BAD, "Mismatch"),
        ("UnsupportedOperator", Tone.BAD, "Not exported"),
        ("DynamicDimSpecialized", Tone.BAD, "Refused"),
        ("IllConditioned", Tone.BAD, "No verdict"),
        ("IsolationUnavailable", Tone.BAD, "Refused"),
    ],
)
def test_verdict_is_summed_up_in_a_word(reason: str, tone: Tone, word: str) -> None:
    verdict = verdict_of(failed(reason))
    assert (verdict.tone, verdict.word) == (tone, word)


@pytest.mark.parametrize(
    ("reason", "stage", "mode", "word", "said"),
    [
        ("InputsMismatch", "Capture", "Export", "Not exported", "does not accept the inputs"),
        ("InputsMismatch", "Verify", "Export", "No verdict", "could not be compared"),
        ("InputsMismatch", "Load", "Verify", "No verdict", "could not be compared"),
        ("ArtifactInvalid", "Load", "Verify", "Refused", "The artifact to verify"),
        ("SamplesInvalid", "Verify", "Export", "No verdict", "recorded inputs"),
        ("OutOfMemory", "Verify", "Verify", "Failed", "The verification reached a limit"),
        ("OutOfMemory", "Convert", "Export", "Failed", "The export reached a limit"),
        ("VerificationFailed", "Verify", "Verify", "Mismatch", "does not compute"),
    ],
)
def test_the_banner_is_that_of_the_condition_that_failed(
    reason: str, stage: str, mode: str, word: str, said: str
) -> None:
    verdict = verdict_of(failed(reason, failure={"stage": stage}, spec=spec(mode=mode)))
    assert verdict.word == word
    assert said in verdict.sentence
    if stage == "Verify" or mode == "Verify":
        assert "converted" not in verdict.sentence


def test_what_is_tried_again_looks_different() -> None:
    verdict = verdict_of(failed("StoreUnavailable", failure={"retryable": True}))
    assert (verdict.tone, verdict.word) == (Tone.AGAIN, "Interrupted")


def test_failure_shows_the_lines_of_the_most_informative_attempt() -> None:
    def tried(rung: str, reason: str, *lines: str) -> dict[str, Any]:
        pitfalls = [{"kind": "NumPy", "message": "leaves torch", "source": s} for s in lines]
        failure = {"reason": reason, "message": "no"}
        return {
            "rung": rung,
            "seconds": 1.0,
            "outcome": "Failed",
            "failure": failure,
            "pitfalls": pitfalls,
        }

    found = trouble_of(
        failed(
            "VerificationFailed",
            "first\n\nsecond",
            attempts=[
                tried("Dynamo", "CaptureFailed", "m.py:1", "m.py:2"),
                tried("Trace", "VerificationFailed", "m.py:2"),
            ],
        )
    )
    assert found is not None
    assert found.message == ("first", "second")
    assert [pitfall.source for pitfall in found.pitfalls] == ["m.py:2", "m.py:1"]


def test_gpus_their_driver_and_libraries_are_named() -> None:
    environment = {
        "versions": {"torch": "2.15.0"},
        "python": "3.11.7",
        "platform": "Linux",
        "cpus": 16,
        "gpus": ["NVIDIA H200", "NVIDIA H200", "NVIDIA L4"],
        "gpuDriver": "580.159.04",
        "gpuLibraries": {"nvidia-cublas": "13.4.1.3"},
    }
    pairs = {pair.name: pair.value for pair in page_of(report(environment=environment)).environment}
    assert pairs["GPU"] == "2 x NVIDIA H200, NVIDIA L4"
    assert pairs["NVIDIA driver"] == "580.159.04"
    assert pairs["nvidia-cublas"] == "13.4.1.3"
    assert "GPU" not in {pair.name for pair in page_of(report()).environment}
