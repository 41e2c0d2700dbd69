"""Which kubeconfig, context and namespace a command uses: as kubectl chooses them. Pure.

The `kubernetes` package merges the files, but takes the current context of the last one where
kubectl takes that of the first; so the context is chosen here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.request import Access

Config = Mapping[str, Any]
DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True)
class Selection:
    """What the command line says about cluster and namespace."""

    kubeconfig: Path | None = None
    context: str | None = None
    namespace: str | None = None


def candidates(kubeconfig: Path | None, environ: Mapping[str, str], home: Path) -> list[Path]:
    """Return the files to merge, the first taking precedence; some may not exist."""
    if kubeconfig is not None:
        return [kubeconfig.expanduser()]
    listed = [entry for entry in environ.get("KUBECONFIG", "").split(os.pathsep) if entry]
    if listed:
        return [_expanded(entry, home) for entry in dict.fromkeys(listed)]
    return [home / ".kube" / "config"]


def _expanded(entry: str, home: Path) -> Path:
    return home / entry.removeprefix("~/") if entry.startswith("~/") else Path(entry)


def choose(configs: Sequence[Config], selection: Selection) -> Access:
    """Return the context and its namespace. Raises ClusterError."""
    contexts = _by_name(configs, "contexts", "context")
    name = selection.context or next(
        (config["current-context"] for config in configs if config.get("current-context")), ""
    )
    if not name:
        raise ClusterError(
            "the kubeconfig has no current context",
            f"Choose one by --context or `kubectl config use-context`: {_listed(contexts)}.",
        )
    if name not in contexts:
        raise ClusterError(
            f"the kubeconfig has no context {name}",
            f"Its contexts are: {_listed(contexts)}.",
        )
    context = contexts[name]
    cluster = _by_name(configs, "clusters", "cluster").get(str(context.get("cluster")), {})
    namespace = selection.namespace or context.get("namespace") or DEFAULT_NAMESPACE
    return Access(name, str(namespace), str(cluster.get("server") or ""))


def _by_name(configs: Sequence[Config], plural: str, singular: str) -> dict[str, Config]:
    """Return the entries of all files by name; the first file that has a name decides."""
    found: dict[str, Config] = {}
    for config in configs:
        for entry in config.get(plural) or []:
            found.setdefault(str(entry.get("name")), entry.get(singular) or {})
    return found


def _listed(contexts: Mapping[str, Config]) -> str:
    return ", ".join(sorted(contexts)) or "none"
