from __future__ import annotations

import pytest

from modelexport_api.status import Verdict, VerificationResult
from modelexport_exporter.core.types import OutputComparison, SampleComparison, VerificationOutcome
from modelexport_exporter.verification.verdict import (
    NOT_AS_RECORDED,
    NOT_DETERMINISTIC,
    describe_ill_conditioned,
    describe_mismatch,
    verdict_on,
)

RIGHT = OutputComparison("logits", 1e-7, 1e-8, 1e-4)
WRONG = OutputComparison("logits", 0.5, 0.1, 1e-4, "at [0, 3] got 1, eager returns 1.5")
OTHER_DTYPE = OutputComparison("logits", 0.0, 0.0, 0.0, "dtype is int32", "dtype")
OTHER_NANS = OutputComparison("logits", 0.0, 0.0, 1e-4, "at [0] got nan", "NaN and infinities")
RANDOM = OutputComparison("logits", 0.5, 0.1, 1e-4, f"at [0] got 1 ({NOT_DETERMINISTIC})")


def outcome(*samples: tuple[int, OutputComparison]) -> VerificationOutcome:
    summary = VerificationResult(
        verdict=Verdict.MISMATCH,
        provider="CPU",
        samples=len(samples),
        max_abs_error=0.5,
        max_rel_error=0.1,
        tolerance_source="Default",
    )
    compared = [
        SampleComparison({"batch": size}, seed, (output,))
        for seed, (size, output) in enumerate(samples)
    ]
    return VerificationOutcome(summary, tuple(compared), 1.0)


def test_the_message_names_output_sizes_values_and_error() -> None:
    message, _ = describe_mismatch(outcome((1, RIGHT), (7, WRONG), (64, WRONG)))
    assert message == (
        "output logits at batch=7 (normal values, seed 1): at [0, 3] got 1, eager returns 1.5. "
        "2 of 3 samples differ."
    )


@pytest.mark.parametrize(
    ("samples", "only"),
    [
        pytest.param((OTHER_DTYPE,), "; only in dtype, where no tolerance applies.", id="dtype"),
        pytest.param((RIGHT, OTHER_NANS), "; only in NaN and infinities,", id="NaN"),
        pytest.param((OTHER_DTYPE, OTHER_NANS), "; only in dtype and NaN and", id="both"),
        pytest.param((OTHER_NANS, WRONG), "", id="values too"),
    ],
)
def test_what_alone_differs_is_told(samples: tuple[OutputComparison, ...], only: str) -> None:
    message, hint = describe_mismatch(outcome(*((7, sample) for sample in samples)))
    assert only in message
    assert ("only in" in message) == bool(only)
    assert ("verification.tolerance" in hint) != bool(only)


@pytest.mark.parametrize(
    ("samples", "hint"),
    [
        pytest.param(((1, WRONG), (7, WRONG)), "An operator is converted wrongly", id="everywhere"),
        pytest.param(
            ((1, RIGHT), (7, WRONG)),
            "It agrees at batch=1 and differs at batch=7: a number that depends on a size",
            id="at some sizes",
        ),
        pytest.param(
            ((7, RIGHT), (7, WRONG)), "An operator is converted wrongly", id="for some values"
        ),
        pytest.param(((1, RANDOM), (7, RANDOM)), "Make the model deterministic", id="by chance"),
    ],
)
def test_the_hint_follows_from_where_it_differs(
    samples: tuple[tuple[int, OutputComparison], ...], hint: str
) -> None:
    assert hint in describe_mismatch(outcome(*samples))[1]


def test_an_outcome_without_a_mismatch_has_nothing_to_describe() -> None:
    with pytest.raises(ValueError, match="no mismatch"):
        describe_mismatch(outcome((1, RIGHT)))


VAGUE = OutputComparison("logits", 0.0, 0.0, 1e-4, inconclusive="3 of 8 elements change")
NOT_GOLDEN = OutputComparison("logits", 0.0, 0.0, 1e-4, f"{NOT_AS_RECORDED}: at [0] got 1")


@pytest.mark.parametrize(
    ("outputs", "values", "verdict"),
    [
        pytest.param([RIGHT, RIGHT], "normal", Verdict.VERIFIED, id="all agree"),
        pytest.param([RIGHT, WRONG], "normal", Verdict.MISMATCH, id="one differs"),
        pytest.param([RIGHT, RIGHT, VAGUE], "normal", Verdict.VERIFIED, id="one tells nothing"),
        pytest.param([RIGHT, VAGUE], "normal", Verdict.ILL_CONDITIONED, id="half tell nothing"),
        pytest.param([WRONG, VAGUE, VAGUE], "normal", Verdict.ILL_CONDITIONED, id="nor do two"),
        pytest.param([VAGUE, VAGUE], "golden 1", Verdict.ILL_CONDITIONED, id="golden samples"),
        pytest.param([VAGUE, VAGUE], "zeros", Verdict.VERIFIED, id="zeros need not tell"),
    ],
)
def test_verdict(outputs: list[OutputComparison], values: str, verdict: Verdict) -> None:
    samples = [SampleComparison({}, 0, (output,), values) for output in outputs]
    assert verdict_on(samples) is verdict


def test_one_vague_output_of_two_makes_a_model_ill_conditioned() -> None:
    other = OutputComparison("boxes", 0.0, 0.0, 1e-4, inconclusive="all change")
    assert verdict_on([SampleComparison({}, 0, (RIGHT, other))]) is Verdict.ILL_CONDITIONED


def test_an_ill_conditioned_model_is_told_with_a_sample() -> None:
    message, hint = describe_ill_conditioned(outcome((7, VAGUE)))
    assert message.startswith(
        "output logits at batch=7 (normal values, seed 0): 3 of 8 elements change."
    )
    assert "goldenInputs" in hint


def test_golden_outputs_of_another_checkpoint() -> None:
    _, hint = describe_mismatch(outcome((7, NOT_GOLDEN)))
    assert "record them again" in hint
