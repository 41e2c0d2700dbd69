"""The banner: the outcome of the export, understandable without context. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from modelexport_api.reasons import EXIT_CODES, ExitCode, Reason
from modelexport_api.status import Failure, Stage, UnsupportedOp, VerificationResult
from modelexport_exporter.report import text
from modelexport_exporter.report.errors import worst_ratio
from modelexport_exporter.report.report import Report, ReportedPitfall


class Tone(StrEnum):
    """How a verdict looks."""

    GOOD = "good"
    BAD = "bad"
    AGAIN = "again"


@dataclass(frozen=True)
class Fact:
    """A number that people ask for first."""

    label: str
    value: str
    more: str = ""


@dataclass(frozen=True)
class Verdict:
    """The banner at the top of the page."""

    tone: Tone
    word: str
    sentence: str
    reason: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Trouble:
    """Why it failed and what to do."""

    reason: str
    stage: str
    retryable: bool
    message: tuple[str, ...]
    hint: tuple[str, ...]
    ops: tuple[UnsupportedOp, ...]
    pitfalls: tuple[ReportedPitfall, ...]


_SENTENCES: dict[ExitCode, tuple[str, str]] = {
    ExitCode.MANIFEST: ("Refused", "The manifest asks for something that cannot be done."),
    ExitCode.SOURCE: ("Failed", "The checkpoint, or code that it needs, could not be used."),
    ExitCode.MODEL: ("Failed", "The model could not be built from its code and checkpoint."),
    ExitCode.EXPORT: ("Not exported", "The model could not be converted to ONNX."),
    ExitCode.CONTRACT: ("Refused", "The ONNX file is not what was requested."),
    ExitCode.VERIFICATION: ("Refused", "The ONNX file could not be shown to be right."),
    ExitCode.DESTINATION: ("Not published", "The destination could not take the artifact."),
    ExitCode.PROVIDER: ("Failed", "The requested execution provider cannot be used."),
    ExitCode.RESOURCES: ("Failed", "The {run} reached a limit of its machine or its deadline."),
    ExitCode.INTERNAL: ("Failed", "An error in ModelExport ended the {run}."),
    ExitCode.RETRYABLE: ("Interrupted", "The {run} was interrupted; run again, it may succeed."),
}
_BY_REASON: dict[Reason, tuple[str, str]] = {
    Reason.VERIFICATION_FAILED: (
        "Mismatch",
        "The ONNX file does not compute what the model computes.",
    ),
    Reason.ISOLATION_UNAVAILABLE: (
        "Refused",
        "The model's code did not run, because this machine cannot isolate it.",
    ),
    Reason.RUNTIME_FAILED: ("Refused", "onnxruntime cannot run the ONNX file."),
    Reason.ILL_CONDITIONED: (
        "No verdict",
        "The model's own results depend on rounding, so the file cannot be compared with them.",
    ),
    Reason.OUTPUT_NOT_COMPARED: (
        "No verdict",
        "An output was empty, or NaN, in all samples, so the file was not compared there.",
    ),
    Reason.BRANCH_NOT_COMPARED: (
        "No verdict",
        "A branch on values went the same way in all samples, so its other side was not compared.",
    ),
    Reason.INPUTS_MISMATCH: (
        "Not exported",
        "The model does not accept the inputs that the spec declares.",
    ),
    Reason.SAMPLES_INVALID: (
        "No verdict",
        "The recorded inputs, or those of the sampler, do not fit the declared inputs.",
    ),
    Reason.ARTIFACT_INVALID: ("Refused", "The artifact to verify could not be used."),
    Reason.UNSUPPORTED_OPERATOR: (
        "Not exported",
        "The model uses operators that have no translation to ONNX.",
    ),
}
_IN_VERIFY: dict[Reason, tuple[str, str]] = {
    Reason.INPUTS_MISMATCH: (
        "No verdict",
        "The model does not accept all inputs that the spec declares, so the ONNX file could not "
        "be compared with it there.",
    ),
}
"""Where the file was there already: what the other sentences say of the export would be false."""
_NOTHING = "Nothing was published."


def verdict_of(report: Report) -> Verdict:
    """Return the banner of a report."""
    failure = report.failure
    if failure is None:
        return Verdict(Tone.GOOD, "Verified", _agreement(report), "", _facts(report))
    word, sentence = _words(report, failure)
    tone = Tone.AGAIN if failure.retryable else Tone.BAD
    nothing = "" if verifies_only(report) else f" {_NOTHING}"
    return Verdict(tone, word, sentence + nothing, failure.reason.value, _facts(report))


def _words(report: Report, failure: Failure) -> tuple[str, str]:
    """Return a word and a sentence, of the condition that the failure makes False."""
    default = ("Failed", "The {run} did not succeed.")
    code = EXIT_CODES.get(failure.reason, ExitCode.INTERNAL)
    has_file = failure.stage is Stage.VERIFY or verifies_only(report)
    word, sentence = (
        (_IN_VERIFY.get(failure.reason) if has_file else None)
        or _BY_REASON.get(failure.reason)
        or _SENTENCES.get(code, default)
    )
    return word, sentence.format(run="verification" if verifies_only(report) else "export")


def verifies_only(report: Report) -> bool:
    """Return whether an existing artifact was verified, and none was made."""
    return report.spec.get("mode") == "Verify"


def _agreement(report: Report) -> str:
    summary = report.verification
    if summary is None:
        return "The ONNX file was published."
    ratio = worst_ratio(report.samples)
    largest = f" The largest error is {text.of_limit(ratio)}." if ratio > 0 else " No error at all."
    agree = "agrees" if summary.samples == 1 else "agree"
    return (
        f"The ONNX file computes what the model computes: {text.many(summary.samples, 'sample')} "
        f"on {summary.provider} {agree} with eager PyTorch.{largest}"
    )


def _facts(report: Report) -> tuple[Fact, ...]:
    facts: list[Fact] = []
    if report.verification is not None and report.samples:
        facts.extend(_of_verification(report, report.verification))
    if report.artifact is not None:
        artifact = report.artifact
        more = f"opset {artifact.opset}, {artifact.exporter}"
        facts.append(Fact("Artifact", text.size(artifact.size_bytes), more))
    took = (report.finished - report.started).total_seconds()
    peak = f"{text.size(report.peak_memory_bytes)} at the peak" if report.peak_memory_bytes else ""
    facts.append(Fact("Took", text.seconds(took), peak))
    return tuple(facts)


def _of_verification(report: Report, summary: VerificationResult) -> list[Fact]:
    outputs = {output.output for sample in report.samples for output in sample.outputs}
    differing = [s for s in report.samples if any(output.problem for output in s.outputs)]
    found = f"{len(differing)} of {len(report.samples)} differ" if differing else "all agree"
    ratio, relative = worst_ratio(report.samples), summary.max_rel_error
    share = f"{text.number(relative)}{'×' if relative >= 1 else ' of'} the largest value"
    return [
        Fact("Largest error", text.of_limit(ratio), share),
        Fact("Samples", text.grouped(summary.samples), found),
        Fact("Outputs", text.grouped(len(outputs)), f"run on {summary.provider}"),
    ]


def trouble_of(report: Report) -> Trouble | None:
    """Return why the export failed, or None."""
    failure = report.failure
    if failure is None:
        return None
    return Trouble(
        reason=failure.reason.value,
        stage=failure.stage.value if failure.stage else "",
        retryable=failure.retryable,
        message=_paragraphs(failure.message),
        hint=_paragraphs(failure.hint),
        ops=tuple(failure.ops),
        pitfalls=_pitfalls(report, failure),
    )


def _paragraphs(message: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in message.splitlines() if line.strip())


def _pitfalls(report: Report, failure: Failure) -> tuple[ReportedPitfall, ...]:
    """Return the lines that led to the failure, most informative attempt first, each once."""
    ordered = sorted(
        report.attempts,
        key=lambda tried: tried.failure is None or tried.failure.reason is not failure.reason,
    )
    return tuple(dict.fromkeys(pitfall for tried in ordered for pitfall in tried.pitfalls))
