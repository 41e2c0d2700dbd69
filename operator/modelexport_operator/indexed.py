"""A batch becomes an Indexed Job: one index per share, and every share is processed.

A pod's completion index is the number of its share, also for the pod that replaces it. If an
index fails permanently, the others continue; only a failure of the whole batch (an empty glob,
code that cannot be imported) ends the Job, by its exit code.
"""

from __future__ import annotations

from typing import Any

from modelexport_api.spec import ModelExportSpec

FAILED_INDEXES = "FailedIndexes"
"""Reason of an Indexed Job in which all indexes ended, and some failed permanently."""


def shape(spec: ModelExportSpec) -> dict[str, Any]:
    """Return the number of pods and the retry limits of a batch."""
    return {
        "completionMode": "Indexed",
        "completions": spec.parallelism,
        "parallelism": spec.parallelism,
        "backoffLimitPerIndex": spec.backoff_limit,
        "maxFailedIndexes": spec.parallelism,
    }


def parse(text: str) -> set[int]:
    """Parse a list of indexes as in a Job's status, such as `0,3-5`."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            found.update(range(int(first), int(last if last.isdigit() else first) + 1))
    return found
