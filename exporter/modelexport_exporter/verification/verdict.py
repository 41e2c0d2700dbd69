"""What a mismatch means, in a sentence and a hint: pure, from the verification's outcome."""

from __future__ import annotations

from modelexport_exporter.values import SampleComparison, VerificationOutcome
from modelexport_exporter.verification.samples import describe_sizes

_LISTED = 3


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
    return message + ".", _hint(outcome, failed)


def _only(failed: list[SampleComparison]) -> str:
    """Return what differs beside values that can be compared, if these all agree."""
    found = [item.only for entry in failed for item in entry.outputs if item.problem]
    return " and ".join(dict.fromkeys(found)) if all(found) else ""


def _hint(outcome: VerificationOutcome, failed: list[SampleComparison]) -> str:
    agreeing = _sizes([entry for entry in outcome.samples if not _fails(entry)])
    failing = _sizes(failed)
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
