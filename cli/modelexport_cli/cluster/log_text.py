"""A pod's log as text for people; and what a status holds once the pod is gone. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from modelexport_api.conditions import FOR_TOOLS
from modelexport_api.pod import LogLine, parse_log_line
from modelexport_cli.cluster.export import Export

_CLOCK = slice(11, 19)
"""The time of day in an ISO 8601 time."""


def readable(line: str) -> str:
    """Return a line of the log as text; output of libraries is returned as it is."""
    entry = parse_log_line(line)
    if entry is None:
        return line
    return f"{entry.time[_CLOCK]}  {_text(entry)}"


def _text(entry: LogLine) -> str:
    if entry.share is not None:
        counts = f"{entry.share.succeeded} verified, {entry.share.failed} failed"
        return f"{counts} of {entry.share.share_total}  {entry.message}"
    if entry.progress is not None:
        step = entry.progress
        return f"{step.percent:3d} %  {step.stage:<8}  {step.message}".rstrip()
    level = f"{entry.level}: " if entry.level in {"warning", "error"} else ""
    return f"{level}{entry.message}"


def from_status(export: Export) -> Iterator[str]:
    """Yield what the status holds of an export whose pod is gone."""
    for condition in export.status.conditions:
        if condition.type in FOR_TOOLS:
            continue
        time = condition.last_transition_time.isoformat()[_CLOCK]
        reason = f" ({condition.reason})" if condition.reason != condition.type else ""
        message = f": {condition.message}" if condition.message else ""
        yield f"{time}  {condition.type} {condition.status}{reason}{message}"
    if export.failure is not None and export.failure.hint:
        yield f"hint: {export.failure.hint}"
