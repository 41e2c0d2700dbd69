"""The last thing that `modelexport run` prints: a verdict that is understood in three seconds.

Sentences are wrapped beside their label where a terminal shows them; paths never are, so that they
can be copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO
from urllib.parse import unquote

from rich.console import Console
from rich.text import Text

from modelexport_api.pod import PodResult
from modelexport_api.status import Artifact, Failure, VerificationResult
from modelexport_exporter.report import text

_LABEL = 10


@dataclass(frozen=True)
class Line:
    """A line of the verdict."""

    label: str
    value: str
    style: str = ""
    is_path: bool = False


def print_result(result: PodResult, seconds: float, stream: TextIO, name: str = "") -> None:
    """Print the verdict, the artifact and the reports."""
    console = Console(file=stream, highlight=False)
    utf = console.encoding.startswith("utf")
    good, bad = ("✓", "✗") if utf else ("+", "x")
    tone = "bold red" if result.failure else "bold green"
    mark = Text(f"{bad if result.failure else good} ", style=tone)
    for position, line in enumerate(lines_of(result, seconds, name)):
        lead = mark if position == 0 else Text("  ")
        label = Text.assemble(lead, (f"{line.label:<{_LABEL}}", tone if position == 0 else "bold"))
        value = Text(line.value, style=line.style)
        if line.is_path or not console.is_terminal:
            console.print(Text.assemble(label, value), soft_wrap=True)
        else:
            _print_beside(console, label, value)


def _print_beside(console: Console, label: Text, value: Text) -> None:
    """Print a value that goes on beside its label, not below it."""
    width = max(console.width - label.cell_len, 20)
    beside = label
    for line in value.wrap(console, width):
        line.rstrip()
        console.print(Text.assemble(beside, line), soft_wrap=True)
        beside = Text(" " * label.cell_len)


def lines_of(result: PodResult, seconds: float, name: str) -> list[Line]:
    """Return what is printed of a result."""
    took = wrappable(text.seconds(seconds))
    failure = result.failure
    lines = [*(_failure(failure, took, name) if failure else _success(result, took, name))]
    lines += _reports(result.report_uri)
    return [line for line in lines if line.value]


def _success(result: PodResult, took: str, name: str) -> Iterator[Line]:
    assert result.verification is not None
    how = f"was up to date ({took})" if result.reused else f"in {took}"
    yield Line(result.verification.verdict.value, f"{name} {how}".strip())
    yield Line("Error", _worst(result.verification))
    yield Line("Samples", _samples(result.verification))
    if result.artifact is not None:
        yield Line("Artifact", readable(result.artifact.uri), is_path=True)
        yield Line("", _described(result.artifact), "dim")


def _worst(verification: VerificationResult) -> str:
    relative = f"{text.number(verification.max_rel_error)} relative"
    if verification.limit_share is None:
        return f"at worst {relative}"
    share = wrappable(text.of_limit(verification.limit_share))
    return f"at worst {share} ({relative})"


def _samples(verification: VerificationResult) -> str:
    agree = "agrees" if verification.samples == 1 else "all agree"
    fallback = verification.fallback_nodes
    cpu = f"; {fallback} nodes fell back to the CPU" if fallback else ""
    return f"{verification.samples} on {verification.provider}, {agree} with eager PyTorch{cpu}"


def _described(artifact: Artifact) -> str:
    size = wrappable(text.size(artifact.size_bytes))
    return f"{size}, opset {artifact.opset}, {artifact.exporter}"


def _failure(failure: Failure, took: str, name: str) -> Iterator[Line]:
    stage = f" in {failure.stage.value}" if failure.stage else ""
    of = f"{name}: " if name else ""
    yield Line("Failed", f"{of}{failure.reason.value}{stage}, after {took}", "bold")
    yield Line("Why", failure.message)
    yield Line("To do", failure.hint, "yellow")


def _reports(uri: str | None) -> Iterator[Line]:
    if uri is None:
        yield Line("Report", "none")
        return
    stem = uri.removesuffix(".json")
    yield Line("Report", readable(f"{stem}.html"), is_path=True)
    yield Line("", readable(uri), is_path=True)


def wrappable(words: str) -> str:
    """Return what the page writes, for a terminal: whoever searches or copies it types spaces."""
    return words.replace("\N{NO-BREAK SPACE}", " ")


def readable(uri: str) -> str:
    """Show a local file as the path that a shell takes."""
    return unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri
