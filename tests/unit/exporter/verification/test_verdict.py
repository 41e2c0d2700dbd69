from __future__ import annotations

from dataclasses import replace

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Verdict, VerificationResult
from modelexport_exporter.core.comparison import (
    OutputComparison,
    Problem,
    ProblemKind,
    SampleComparison,
)
from modelexport_exporter.core.outcome import NotCompared, Unreached, VerificationOutcome
from modelexport_exporter.core.sample import Values
from modelexport_exporter.core.types import SizeGuard
from modelexport_exporter.verification.verdict import (
    describe_ill_conditioned,
    describe_incomplete,
    describe_mismatch,
    describe_reordered,
    verdict_on,
)


def differing(kind: ProblemKind, text: str = "at [0] got 1") -> OutputComparison:
    return OutputComparison("logits", 0.5, 0.1, 1e-4, Problem(kind, text))


RIGHT = OutputComparison("logits", 1e-7, 1e-8, 1e-4)
WRONG = differing(ProblemKind.VALUES, "at [0, 3] got 1, eager returns 1.5")
OTHER_DTYPE = differing(ProblemKind.DTYPE)
OTHER_NANS = differing(ProblemKind.NOT_FINITE)
RANDOM = differing(ProblemKind.NOT_DETERMINISTIC)
NOT_GOLDEN = differing(ProblemKind.GOLDEN)
INCONCLUSIVE = OutputComparison("logits", 0.0, 0.0, 1e-4, inconclusive="3 of 8 elements change")


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


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([(3, RIGHT), (7, WRONG)], False),
        ([(3, WRONG), (7, RIGHT)], True),
        ([(1, WRONG), (7, WRONG)], False),
        ([(1, RIGHT), (7, OTHER_DTYPE)], True),
    ],
)
def test_what_differs_at_the_sizes_of_the_capture(
    samples: list[tuple[int, OutputComparison]], expected: bool
) -> None:
    assert outcome(*samples).differs_at({"batch": 3}) is expected


def test_mismatch_message_names_output_sizes_values_and_error() -> None:
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
def test_mismatch_message_names_differences_without_a_tolerance(
    samples: tuple[OutputComparison, ...], only: str
) -> None:
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
def test_mismatch_hint_depends_on_the_differing_samples(
    samples: tuple[tuple[int, OutputComparison], ...], hint: str
) -> None:
    assert hint in describe_mismatch(outcome(*samples))[1]


def test_outcome_without_mismatch_cannot_be_described() -> None:
    with pytest.raises(ValueError, match="no mismatch"):
        describe_mismatch(outcome((1, RIGHT)))


@pytest.mark.parametrize(
    ("outputs", "values", "verdict"),
    [
        ([RIGHT, RIGHT], Values.NORMAL, Verdict.VERIFIED),
        ([RIGHT, WRONG], Values.NORMAL, Verdict.MISMATCH),
        ([RIGHT, RIGHT, INCONCLUSIVE], Values.NORMAL, Verdict.VERIFIED),
        ([RIGHT, INCONCLUSIVE], Values.NORMAL, Verdict.ILL_CONDITIONED),
        ([WRONG, INCONCLUSIVE, INCONCLUSIVE], Values.NORMAL, Verdict.ILL_CONDITIONED),
        ([INCONCLUSIVE, INCONCLUSIVE], Values.GOLDEN, Verdict.ILL_CONDITIONED),
        ([INCONCLUSIVE, INCONCLUSIVE], Values.ZEROS, Verdict.VERIFIED),
    ],
    ids=[
        "all agree",
        "one differs",
        "one of three inconclusive",
        "half inconclusive",
        "two of three inconclusive",
        "golden samples inconclusive",
        "only degenerate samples inconclusive",
    ],
)
def test_verdict(outputs: list[OutputComparison], values: Values, verdict: Verdict) -> None:
    samples = [SampleComparison({}, 0, (output,), values) for output in outputs]
    assert verdict_on(samples) is verdict


def test_one_inconclusive_output_of_two_makes_a_model_ill_conditioned() -> None:
    other = OutputComparison("boxes", 0.0, 0.0, 1e-4, inconclusive="all change")
    assert verdict_on([SampleComparison({}, 0, (RIGHT, other))]) is Verdict.ILL_CONDITIONED


def test_ill_conditioned_message_names_a_sample() -> None:
    message, hint = describe_ill_conditioned(outcome((7, INCONCLUSIVE)))
    assert message.startswith(
        "output logits at batch=7 (normal values, seed 0): 3 of 8 elements change."
    )
    assert "goldenInputs" in hint


def test_hint_for_golden_outputs_of_another_checkpoint() -> None:
    _, hint = describe_mismatch(outcome((7, NOT_GOLDEN)))
    assert "record them again" in hint


EMPTY = NotCompared(Unreached.ELEMENTS, "output boxes")
NAN = NotCompared(Unreached.NUMBERS, "output scores")
SIDE = NotCompared(Unreached.SIDE, "net.py:12: `if x.max() > 400:`")
SIDE_OF_FILE = NotCompared(Unreached.SIDE_OF_FILE, "the then side of the node /If")
NUMBER = NotCompared(Unreached.NUMBER, "net.py:12: `k = x.max().item()`")
SIZE = NotCompared(Unreached.SIZE, "the condition n != 50 (net.py:15)")


@pytest.mark.parametrize(
    ("output", "left", "verdict"),
    [
        (RIGHT, [EMPTY], Verdict.INCOMPLETE),
        (RIGHT, [], Verdict.VERIFIED),
        (WRONG, [EMPTY], Verdict.MISMATCH),
    ],
)
def test_what_was_not_compared_is_not_verified(
    output: OutputComparison, left: list[NotCompared], verdict: Verdict
) -> None:
    assert verdict_on([SampleComparison({}, 0, (output,))], left) is verdict


@pytest.mark.parametrize(
    ("left", "reason", "message", "hint"),
    [
        (EMPTY, Reason.OUTPUT_NOT_COMPARED, "output boxes had no elements", "goldenInputs"),
        (NAN, Reason.OUTPUT_NOT_COMPARED, "output scores was NaN in all", "kind: PaddingMask"),
        (SIDE, Reason.BRANCH_NOT_COMPARED, "net.py:12: `if x.max() > 400:` went", "torch.where"),
        (SIDE_OF_FILE, Reason.BRANCH_NOT_COMPARED, "/If ran in no sample", "goldenInputs"),
        (NUMBER, Reason.BRANCH_NOT_COMPARED, "the file holds one result", "torch.where"),
        (SIZE, Reason.BRANCH_NOT_COMPARED, "n != 50 (net.py:15) was not", "allowIncomplete"),
    ],
)
def test_an_incomplete_verdict_names_what_is_missing(
    left: NotCompared, reason: Reason, message: str, hint: str
) -> None:
    found = describe_incomplete(replace(outcome((7, RIGHT)), not_compared=(left,)))
    assert found[0] is reason
    assert message in found[1]
    assert hint in found[2]


def test_a_difference_at_sizes_of_a_guard_names_its_line() -> None:
    guard = SizeGuard("batch != 7", "net.py:15", ({"batch": 7},))
    found = replace(outcome((1, RIGHT), (7, WRONG)), guards=(guard,))
    assert "batch != 7 (net.py:15)" in describe_mismatch(found)[1]


def test_other_orders_of_equal_values_are_counted() -> None:
    samples = [
        replace(sample, reordered=True) for sample in outcome((1, RIGHT), (2, WRONG)).samples
    ]
    samples += outcome((3, RIGHT)).samples
    assert describe_reordered(samples[1:]) == []
    (text,) = describe_reordered(samples)
    assert text.startswith("1 of 3 samples: the order of equal values")
