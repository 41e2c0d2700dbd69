"""Finds a ModelExport by its name; if there is none, names those that are like it."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.export import Export, observe

if TYPE_CHECKING:
    from modelexport_cli.cluster.client import Cluster

_MOST_LISTED = 8


def find(cluster: Cluster, name: str) -> Export:
    """Return the ModelExport. Raises ClusterError."""
    try:
        return observe(cluster.get_export(name))
    except ClusterError as error:
        if error.reason != "NotFound":
            raise
        known: list[str] | None = None
        with contextlib.suppress(ClusterError):
            known = cluster.export_names()
        raise ClusterError(
            error.message,
            describe_known(name, known, cluster.namespace),
            exit_code=error.exit_code,
            reason=error.reason,
        ) from None


def describe_known(name: str, known: Sequence[str] | None, namespace: str) -> str:
    """Return the hint for a name that does not exist; `known` is None if it cannot be listed."""
    if known is None:
        return "Check the name and the namespace (--namespace)."
    if not known:
        return f"Namespace {namespace} has no ModelExport; choose another one by --namespace."
    close = difflib.get_close_matches(name, known, n=3)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    listed = ", ".join(sorted(known)[:_MOST_LISTED])
    more = f" and {len(known) - _MOST_LISTED} more" if len(known) > _MOST_LISTED else ""
    return f"Namespace {namespace} has: {listed}{more}."
