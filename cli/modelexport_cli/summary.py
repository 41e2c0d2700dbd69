"""The summary that `modelexport run` prints at the end, of one export or of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO
from urllib.parse import unquote

from rich.console import Console
from rich.text import Text

from modelexport_api.pod import PodResult
from modelexport_api.status import Artifact, Failure, VerificationResult
from modelexport_cli.screen import console_for, marks, print_table, print_value
from modelexport_exporter.batch.item_result import ItemResult, badness
from modelexport_exporter.batch.results import Results
from modelexport_exporter.report import text

_ROWS = 15
_MESSAGE = 200
_COLUMNS = ("checkpoint", "result", "error", "time", "message")
_STYLES = {"Succeeded": "green", "Failed": "red", "Pending": "yellow"}


@dataclass(frozen=True)
class Line:
    """A line of the summary."""

    label: str
    value: str
    style: str = ""
    is_path: bool = False


def print_summary(
    result: PodResult, results: Results | None, seconds: float, stream: TextIO, name: str = ""
) -> None:
    """Print the verdict, the worst checkpoints of a batch, and where artifact and reports are."""
    console = console_for(stream)
    done, failed = marks(console)
    tone = "bold red" if result.failure else "bold green"
    if results is not None and results.failed and not result.failure:
        tone = "bold yellow"
    mark = failed if result.failure else done
    for line in _verdict(result, results, _plain(text.seconds(seconds)), name):
        _print_line(console, mark, line, tone)
        mark, tone = " ", "bold"
    if results is not None:
        _print_items(console, sorted(results.items, key=badness))
    for line in _reports(result):
        _print_line(console, " ", line, "bold")


def _print_line(console: Console, mark: str, line: Line, tone: str) -> None:
    label = f"{mark} {line.label:<9} "
    print_value(console, label, line.value, line.style, label_style=tone, wrap=not line.is_path)


def _verdict(result: PodResult, results: Results | None, took: str, name: str) -> Iterator[Line]:
    if result.failure is not None:
        yield from _failure(result.failure, took, name)
    elif results is not None:
        verdict = "Partial" if results.failed else "Verified"
        yield Line(
            verdict, f"{results.succeeded} of {results.total} checkpoints of {name} in {took}"
        )
    elif result.verification is not None:
        how = f"was up to date ({took})" if result.reused else f"in {took}"
        yield Line(result.verification.verdict.value, f"{name} {how}".strip())
        yield Line("Error", _worst(result.verification))
        yield Line("Samples", _samples(result.verification))
        if result.verification.coverage:
            yield Line("", "; ".join(result.verification.coverage), "dim")
        for sentence in result.verification.not_compared:
            yield Line("Untested", sentence, "yellow")
        if result.verification.user_code_in_runtime:
            yield Line("Runtime", "ran with plugins or libraries of the user", "dim")
        isolation = result.verification.isolation
        for sentence in isolation.missing if isolation else ():
            yield Line("Isolation", f"not in force: {sentence}", "dim")
        if result.artifact is not None:
            yield Line("Artifact", _path(result.artifact.uri), is_path=True)
            yield Line("", _described(result.artifact), "dim")


def _failure(failure: Failure, took: str, name: str) -> Iterator[Line]:
    stage = f" in {failure.stage.value}" if failure.stage else ""
    of = f"{name}: " if name else ""
    yield Line("Failed", f"{of}{failure.reason.value}{stage}, after {took}", "bold")
    yield Line("Message", failure.message)
    yield Line("Hint", failure.hint, "yellow")
    yield Line("More", f"modelexport explain {failure.reason.value}", "dim")


def _worst(verification: VerificationResult) -> str:
    relative = f"{text.number(verification.max_rel_error)} relative"
    if verification.limit_share is None:
        return f"at most {relative}"
    return f"at most {_plain(text.of_limit(verification.limit_share))} ({relative})"


def _samples(verification: VerificationResult) -> str:
    agree = "agrees" if verification.samples == 1 else "all agree"
    fallback = verification.fallback_nodes
    cpu = f"; {fallback} nodes fell back to the CPU" if fallback else ""
    return f"{verification.samples} on {verification.provider}, {agree} with eager PyTorch{cpu}"


def _described(artifact: Artifact) -> str:
    return f"{_plain(text.size(artifact.size_bytes))}, opset {artifact.opset}, {artifact.exporter}"


def _reports(result: PodResult) -> Iterator[Line]:
    uri, share = result.report_uri, result.share
    if share is not None:
        yield Line("Report", _path(uri or ""), is_path=True)
        yield Line("Results", _path(share.results_uri or ""), is_path=True)
    elif uri is not None:
        yield Line("Report", _path(f"{uri.removesuffix('.json')}.html"), is_path=True)
        yield Line("", _path(uri), is_path=True)
    else:
        yield Line("Report", "none")


def _print_items(console: Console, items: list[ItemResult]) -> None:
    print_table(console, _COLUMNS, [_row(item) for item in items[:_ROWS]])
    omitted = len(items) - _ROWS
    if omitted > 0:
        console.print(Text(f"… {omitted} more with smaller errors", style="dim"))


def _row(item: ItemResult) -> tuple[str | Text, ...]:
    if item.reason is not None:
        result = item.reason.value
    elif item.outcome == "Succeeded":
        result = "verified" + ", up to date" * item.reused
    else:
        result = "not tried"
    error = "" if item.limit_share is None else text.of_limit(float(item.limit_share))
    took = "" if item.seconds is None else text.seconds(item.seconds)
    message = item.message[:_MESSAGE] + "…" * (len(item.message) > _MESSAGE)
    return item.name, Text(result, _STYLES[item.outcome]), error, took, message


def _plain(words: str) -> str:
    """Return what the report page writes with the spaces that a user types to search for it."""
    return words.replace("\N{NO-BREAK SPACE}", " ")


def _path(uri: str) -> str:
    """Return a local file as the path that a shell takes."""
    return unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri
