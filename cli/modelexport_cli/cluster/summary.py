"""What is printed of an export that has ended: the summary of `modelexport run`."""

from __future__ import annotations

import json
import sys

from modelexport_api.pod import PodResult
from modelexport_cli.cluster.export import Export
from modelexport_cli.screen import console_for, marks, print_value
from modelexport_cli.summary import print_summary


def print_end(export: Export, output: str) -> None:
    """Print the verdict and where things are, or the status as JSON."""
    if output == "json":
        print_status(export)
    elif export.is_batch and export.failure is None:
        _print_batch(export)
    else:
        print_summary(result_of(export), None, seconds_of(export), sys.stdout, export.name)


def print_status(export: Export) -> None:
    """Print the status as it is stored."""
    print(json.dumps(export.raw.get("status") or {}, indent=2, ensure_ascii=False))


def result_of(export: Export) -> PodResult:
    """Return the result of the pod, as far as the status holds it."""
    status = export.status
    return PodResult(
        outcome="Failed" if export.failure else "Succeeded",
        artifact=status.artifact,
        verification=status.verification,
        failure=export.failure,
        report_uri=status.report_uri,
    )


def seconds_of(export: Export) -> float:
    """Return the time from the start of the first pod to the end."""
    begin, end = export.status.start_time, export.status.completion_time
    return max(0.0, (end - begin).total_seconds()) if begin and end else 0.0


def _print_batch(export: Export) -> None:
    """Print the counts of a batch: its results are in a store, where the page is."""
    console, status = console_for(sys.stdout), export.status
    done, _ = marks(console)
    items = status.items
    verdict, tone = ("Partial", "bold yellow") if export.is_partial else ("Verified", "bold green")
    counts = f"{items.succeeded} of {items.total} checkpoints of " if items else ""
    rows = [
        (done, verdict, f"{counts}{export.name} in {seconds_of(export):.0f} s", tone),
        (" ", "Report", status.report_uri or "", "bold"),
        (" ", "Results", (items.results_uri if items else None) or "", "bold"),
    ]
    if items and items.reasons:
        failed = ", ".join(f"{count} {reason}" for reason, count in items.reasons.items())
        rows.insert(1, (" ", "Failed", failed, "bold"))
    for mark, label, value, style in rows:
        print_value(console, f"{mark} {label:<9} ", value, label_style=style, wrap=False)
