"""A batch becomes an Indexed Job: one index for each share, and every share is tried.

Kubernetes tells a pod its index, and that is the number of its share, also for the pod that
replaces it. An index that failed for good never ends the others: only a failure of the batch as a
whole (an empty glob, code that cannot be imported) does, by its exit code.
"""

from __future__ import annotations

from typing import Any

from modelexport_api.spec import ModelExportSpec

FAILED_INDEXES = "FailedIndexes"
"""Reason of an Indexed Job whose indexes were all tried, and some failed for good."""


def shape(spec: ModelExportSpec) -> dict[str, Any]:
    """Return how many pods share the batch, and what may fail."""
    return {
        "completionMode": "Indexed",
        "completions": spec.parallelism,
        "parallelism": spec.parallelism,
        "backoffLimitPerIndex": spec.backoff_limit,
        "maxFailedIndexes": spec.parallelism,
    }


def parse(text: str) -> set[int]:
    """Return the indexes in the form in which a Job's status lists them, such as `0,3-5`."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            found.update(range(int(first), int(last if last.isdigit() else first) + 1))
    return found
