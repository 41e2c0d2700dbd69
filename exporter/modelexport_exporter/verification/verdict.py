"""The verdict, and the message and hint that explain it: pure, from the compared samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from modelexport_api.reasons import Reason
from modelexport_api.status import Verdict
from modelexport_exporter.core.comparison import NO_TOLERANCE, ProblemKind, SampleComparison
from modelexport_exporter.core.dims import describe_sizes
from modelexport_exporter.core.outcome import NotCompared, Unreached, VerificationOutcome
from modelexport_exporter.core.sample import NOT_FINITE, ORDINARY

_LISTED = 3


def verdict_on(
    samples: Sequence[SampleComparison], not_compared: Sequence[NotCompared] = ()
) -> Verdict:
    """Return the verdict on all compared samples.

    An output for which at least half of the ordinary samples are inconclusive makes the model
    ill-conditioned: neither a mismatch nor an agreement would mean anything.
    """
    if ill_conditioned(samples):
        return Verdict.ILL_CONDITIONED
    if any(sample.differs for sample in samples):
        return Verdict.MISMATCH
    return Verdict.INCOMPLETE if not_compared else Verdict.VERIFIED


def ill_conditioned(samples: Sequence[SampleComparison]) -> list[str]:
    """Return the outputs for which at least half of the ordinary samples are inconclusive."""
    conclusive: defaultdict[str, list[bool]] = defaultdict(list)
    for sample in samples:
        if sample.values in ORDINARY:
            for output in sample.outputs:
                conclusive[output.output].append(not output.inconclusive)
    return [name for name, found in conclusive.items() if 2 * sum(found) <= len(found)]


def describe_reordered(samples: Sequence[SampleComparison]) -> list[str]:
    """Return on how many samples eager and the file order equal values differently."""
    reordered = sum(sample.reordered and not sample.differs for sample in samples)
    if not reordered:
        return []
    return [
        f"{reordered} of {len(samples)} samples: the order of equal values is that of ONNX, the "
        "first position first; torch does not specify it"
    ]


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
        f"output {output.output} at {describe_sizes(sample.dims)} ({sample.label} values, seed "
        f"{sample.seed}): {output.inconclusive}. The model computed in float64, or rounded "
        "differently in its own precision, gives other results than eager PyTorch, so no file can "
        "be compared with it.",
        "Make the computation stable: larger epsilons in normalisations, no differences of large "
        "numbers, no ranking of scores that are equal except for rounding; or verify on realistic "
        "inputs (verification.goldenInputs, verification.sampler, inputs[].range).",
    )


def describe_incomplete(outcome: VerificationOutcome) -> tuple[Reason, str, str]:
    """Return reason, message and hint for an outcome whose verdict is Incomplete."""
    kinds = {entry.kind for entry in outcome.not_compared}
    nothing = {Unreached.ELEMENTS, Unreached.NUMBERS} & kinds
    frozen = {Unreached.SIDE, Unreached.NUMBER}
    listed = _join([str(entry) for entry in outcome.not_compared])
    message = f"{listed}. {len(outcome.samples)} samples ran."
    rewrite = (
        ", or write torch.where(condition, a, b) for values and torch.cond for whole branches: the "
        "file holds one side only"
    )
    # What is empty is empty on every route; another one may keep both sides of a branch.
    reason = Reason.OUTPUT_NOT_COMPARED if nothing else Reason.BRANCH_NOT_COMPARED
    mask = (
        "If a mask hides everything, declare kind: AttentionMask (1 is kept) or kind: PaddingMask "
        "(true is left out), without range. If a range is wrong, correct it. If forward overflows "
        "for ordinary inputs (exp without its maximum subtracted, 0/0), correct that line. Or "
        "record "
        if Unreached.NUMBERS in kinds
        else "Record "
    )
    hint = (
        f"{mask}inputs that reach it (verification.goldenInputs), or draw them "
        f"(verification.sampler){rewrite if frozen & kinds else ''}. To publish without this "
        "comparison, set verification.allowIncomplete: true."
    )
    return reason, message, hint


def describe_mismatch(outcome: VerificationOutcome) -> tuple[str, str]:
    """Return message and hint for an outcome whose verdict is Mismatch."""
    found = outcome.first_problem
    if found is None:
        msg = "the outcome has no mismatch"
        raise ValueError(msg)
    sample, output, problem = found
    failed = [entry for entry in outcome.samples if entry.differs]
    outputs = {item.output for entry in failed for item in entry.outputs if item.problem}
    message = (
        f"output {output.output} at {describe_sizes(sample.dims)} ({sample.label} values, seed "
        f"{sample.seed}): {problem.text}. {len(failed)} of {len(outcome.samples)} samples differ"
    )
    if len(outputs) > 1:
        message += f", in {len(outputs)} outputs"
    kinds = _list_kinds(failed)
    if NO_TOLERANCE.issuperset(kinds):
        message += f"; only in {' and '.join(kinds)}, where no tolerance applies"
    message = f"{message}.{_describe_blame(outcome)}"
    hint = _hint_on_plugin(outcome) or _choose_hint(outcome, failed, kinds)
    return message, hint + _describe_repro(outcome)


def _list_kinds(failed: Sequence[SampleComparison]) -> list[ProblemKind]:
    """Return the kinds of problem, each once, in the order in which they occurred."""
    problems = [output.problem for sample in failed for output in sample.outputs]
    return list(dict.fromkeys(problem.kind for problem in problems if problem))


def _describe_blame(outcome: VerificationOutcome) -> str:
    sentence = outcome.blame.sentence() if outcome.blame else ""
    return f" It {sentence}." if sentence else ""


def _describe_repro(outcome: VerificationOutcome) -> str:
    if outcome.blame is None or not outcome.blame.repro:
        return ""
    return " repro/, next to the report, reproduces it with numpy and onnxruntime only."


def _hint_on_plugin(outcome: VerificationOutcome) -> str:
    blame = outcome.blame
    if blame is None or not blame.is_of_a_plugin:
        return ""
    return (
        f"The plugin {blame.plugin} translates {blame.aten} to nodes that compute something else "
        "than the operator: correct the plugin. No other attempt could avoid it."
    )


def _choose_hint(
    outcome: VerificationOutcome,
    failed: list[SampleComparison],
    kinds: Sequence[ProblemKind],
) -> str:
    agreeing = _list_sizes([entry for entry in outcome.samples if not entry.differs])
    failing = _list_sizes(failed)
    if ProblemKind.GOLDEN in kinds:
        return (
            "The golden outputs were recorded with another checkpoint, other code or another "
            "torch: record them again, or correct source.uri and model."
        )
    if ProblemKind.NOT_DETERMINISTIC in kinds:
        return (
            "Make the model deterministic: no dropout outside of nn.Dropout or with training=True, "
            "no random numbers in forward."
        )
    if agreeing and not set(agreeing) & set(failing):
        assumed = _list_guards(outcome, failed)
        if assumed:
            return (
                f"The graph was captured for sizes with {_join(assumed)}, and differs at "
                f"{_join(failing)}. Write both sides of the branch as one (slices, padding), or "
                "declare in dims only the sizes on one side."
            )
        return (
            f"It agrees at {_join(agreeing)} and differs at {_join(failing)}: a number that "
            "depends on a size was fixed during the export (int(), .item(), a Python branch or "
            "loop over a shape). Compute it with tensors."
        )
    advice = (
        "The file does not compute what the model computes, and was not published. An operator is "
        "converted wrongly: write the operation with other operators."
    )
    if all(entry.values in NOT_FINITE for entry in failed):
        advice += " If no input holds NaN or infinity, declare inputs[].range, which excludes them."
    if NO_TOLERANCE.issuperset(kinds):
        return advice
    return advice + " If the error is harmless, set verification.tolerance."


def _list_guards(outcome: VerificationOutcome, failed: list[SampleComparison]) -> list[str]:
    """Return the conditions on sizes that a failed sample does not fulfil."""
    return [
        str(guard)
        for guard in outcome.guards
        if any(own.items() <= sample.dims.items() for own in guard.sizes for sample in failed)
    ]


def _list_sizes(samples: list[SampleComparison]) -> list[str]:
    return list(dict.fromkeys(describe_sizes(sample.dims) for sample in samples))


def _join(sizes: list[str]) -> str:
    more = f" and {len(sizes) - _LISTED} more" if len(sizes) > _LISTED else ""
    return "; ".join(sizes[:_LISTED]) + more
