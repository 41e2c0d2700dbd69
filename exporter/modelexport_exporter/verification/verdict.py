"""What a mismatch means, in a sentence and a hint: pure, from the verification's outcome."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from modelexport_api.status import Verdict
from modelexport_exporter.core.types import SampleComparison, VerificationOutcome
from modelexport_exporter.verification.samples.sizes import ORDINARY, describe_sizes

_LISTED = 3
NOT_AS_RECORDED = "eager PyTorch does not return the golden output"
"""Part of the problem's text where a recorded output and eager disagree."""


def verdict_on(samples: Sequence[SampleComparison]) -> Verdict:
    """Return what the comparisons come to.

    An output that most ordinary samples say nothing about makes the model ill-conditioned: neither
    a mismatch nor an agreement would mean anything.
    """
    if ill_conditioned(samples):
        return Verdict.ILL_CONDITIONED
    wrong = any(output.problem for sample in samples for output in sample.outputs)
    return Verdict.MISMATCH if wrong else Verdict.VERIFIED


def ill_conditioned(samples: Sequence[SampleComparison]) -> list[str]:
    """Return the outputs that at least half of the ordinary samples are inconclusive for."""
    told: defaultdict[str, list[bool]] = defaultdict(list)
    for sample in samples:
        if sample.values.split()[0].rstrip(",") in ORDINARY:
            for output in sample.outputs:
                told[output.output].append(not output.inconclusive)
    return [name for name, found in told.items() if 2 * sum(found) <= len(found)]


def describe_ill_conditioned(outcome: VerificationOutcome) -> tuple[str, str]:
    """Return message and hint for an outcome whose verdict is IllConditioned."""
    names = ill_conditioned(outcome.samples)
    sample, output = next(
        (sample, output)
        for sample in outcome.samples
        for output in sample.outputs
        if output.output in names and output.inconclusive
    )
    return (
        f"output {output.output} at {describe_sizes(sample.dims)} ({sample.values} values, seed "
        f"{sample.seed}): {output.inconclusive}. The model in float64, and in its own precision "
        "with other roundings, gives other results than eager PyTorch, so that no file can be held "
        "against it.",
        "Make the computation stable: larger epsilons in normalisations, no differences of large "
        "numbers, no ranking of scores that are equal but for rounding; or verify on inputs as the "
        "model meets them (verification.goldenInputs, verification.sampler, inputs[].range).",
    )


def describe_mismatch(outcome: VerificationOutcome) -> tuple[str, str]:
    """Return message and hint for an outcome whose verdict is Mismatch."""
    found = outcome.first_problem
    if found is None:
        msg = "the outcome holds no mismatch"
        raise ValueError(msg)
    sample, output = found
    failed = [entry for entry in outcome.samples if _fails(entry)]
    outputs = {item.output for entry in failed for item in entry.outputs if item.problem}
    message = (
        f"output {output.output} at {describe_sizes(sample.dims)} ({sample.values} values, seed "
        f"{sample.seed}): {output.problem}. {len(failed)} of {len(outcome.samples)} samples differ"
    )
    if len(outputs) > 1:
        message += f", in {len(outputs)} outputs"
    only = _only(failed)
    if only:
        message += f"; only in {only}, where no tolerance applies"
    return message + "." + _blamed(outcome), _hint(outcome, failed) + _repro(outcome)


def _blamed(outcome: VerificationOutcome) -> str:
    found = outcome.blame.sentence() if outcome.blame else ""
    return f" It {found}." if found else ""


def _repro(outcome: VerificationOutcome) -> str:
    if outcome.blame is None or not outcome.blame.repro:
        return ""
    return " A repro that needs only numpy and onnxruntime lies beside the report, in repro/."


def _only(failed: list[SampleComparison]) -> str:
    """Return what differs beside values that can be compared, if these all agree."""
    found = [item.only for entry in failed for item in entry.outputs if item.problem]
    return " and ".join(dict.fromkeys(found)) if all(found) else ""


def _hint(outcome: VerificationOutcome, failed: list[SampleComparison]) -> str:
    agreeing = _sizes([entry for entry in outcome.samples if not _fails(entry)])
    failing = _sizes(failed)
    if any(NOT_AS_RECORDED in item.problem for entry in failed for item in entry.outputs):
        return (
            "The checkpoint, its code or torch is not what the golden outputs were recorded with: "
            "record them again, or correct source.uri and model."
        )
    if any(NOT_DETERMINISTIC in item.problem for entry in failed for item in entry.outputs):
        return (
            "Make the model deterministic: no dropout outside of nn.Dropout or with training=True, "
            "no random numbers in forward."
        )
    if agreeing and not set(agreeing) & set(failing):
        return (
            f"It agrees at {_list(agreeing)} and differs at {_list(failing)}: a number that "
            "depends on a size was fixed during the export (int(), .item(), a Python branch or "
            "loop over a shape). Compute it with tensors, or try the other export.exporter."
        )
    advice = (
        "The file does not compute what the model computes, and was not published. An operator is "
        "converted wrongly: try the other export.exporter, export.optimize: false, or write the "
        "operation with others."
    )
    if _only(failed):
        return advice
    return advice + " If the error is harmless, set verification.tolerance."


NOT_DETERMINISTIC = "eager PyTorch differs from itself"
"""Part of the problem's text where two eager runs of one sample disagree."""


def _fails(sample: SampleComparison) -> bool:
    return any(output.problem for output in sample.outputs)


def _sizes(samples: list[SampleComparison]) -> list[str]:
    return list(dict.fromkeys(describe_sizes(sample.dims) for sample in samples))


def _list(sizes: list[str]) -> str:
    more = f" and {len(sizes) - _LISTED} more" if len(sizes) > _LISTED else ""
    return "; ".join(sizes[:_LISTED]) + more
