"""The last thing that a batch prints: how many verified, the worst of them, and where all are."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from modelexport_api.pod import PodResult
from modelexport_cli.verdict import readable, wrappable
from modelexport_exporter.batch.items import ItemResult, badness
from modelexport_exporter.batch.results import Results
from modelexport_exporter.report import text

_LABEL = 10
_SHOWN = 15
_MESSAGE = 200
_ANSWERS = {"Succeeded": ("verified", "green"), "Failed": ("", "red"), "Pending": ("–", "yellow")}


def print_batch(
    result: PodResult, results: Results | None, seconds: float, stream: TextIO, name: str
) -> None:
    """Print the verdict, the worst rows and where the rest is."""
    console = Console(file=stream, highlight=False)
    good, bad = ("✓", "✗") if console.encoding.startswith("utf") else ("+", "x")
    failure = result.failure
    took = wrappable(text.seconds(seconds))
    if failure is not None:
        _line(console, "Failed", f"{name}: {failure.reason.value}, after {took}", "bold red", bad)
        _line(console, "Why", failure.message, "bold")
        _line(console, "To do", failure.hint, "bold")
    elif results is not None:
        done = f"{results.succeeded} of {results.total} checkpoints of {name} in {took}"
        label, tone = ("Partly", "bold yellow") if results.failed else ("Verified", "bold green")
        _line(console, label, done, tone, good)
    if results is not None:
        console.print(_table(sorted(results.items, key=badness)))
        left_out = len(results.items) - _SHOWN
        if left_out > 0:
            console.print(Text(f"… and {left_out} more, which did better", style="dim"))
    if result.report_uri is not None:
        _line(console, "Index", readable(result.report_uri), "bold")
    if result.share is not None and result.share.results_uri is not None:
        _line(console, "Results", readable(result.share.results_uri), "bold")


def _table(items: list[ItemResult]) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("checkpoint", overflow="fold")
    table.add_column("answer")
    table.add_column("error", justify="right")
    table.add_column("time", justify="right")
    table.add_column("why", overflow="fold", ratio=1)
    for item in items[:_SHOWN]:
        answer, tone = _ANSWERS[item.outcome]
        reason = item.reason.value if item.reason else answer + ", up to date" * item.reused
        share = "" if item.limit_share is None else text.of_limit(float(item.limit_share))
        took = "" if item.seconds is None else text.seconds(item.seconds)
        message = item.message[:_MESSAGE] + "…" * (len(item.message) > _MESSAGE)
        cells = (Text(item.name), Text(reason, style=tone), share, took, Text(message))
        table.add_row(*cells)
    return table


def _line(console: Console, label: str, value: str, tone: str, mark: str = " ") -> None:
    if value:
        head = Text(f"{mark} {label:<{_LABEL}}", style=tone)
        console.print(Text.assemble(head, value), soft_wrap=True)
