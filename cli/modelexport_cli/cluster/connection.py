"""Connects to the cluster and namespace that kubectl would use.

The kubeconfig is read before the `kubernetes` package is imported, which takes a second or two: a
wrong context is reported at once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from modelexport_cli.cluster import kubeconfig
from modelexport_cli.cluster.errors import ClusterError, one_line
from modelexport_cli.cluster.kubeconfig import Selection
from modelexport_cli.cluster.request import Access

if TYPE_CHECKING:
    from modelexport_cli.cluster.client import Cluster

_POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def connect(selection: Selection) -> Cluster:
    """Return the cluster and namespace. Raises ClusterError."""
    files = kubeconfig.candidates(selection.kubeconfig, os.environ, Path.home())
    configs = {path: _read(path) for path in files if path.exists()}
    configs = {path: config for path, config in configs.items() if config}
    if configs:
        access = kubeconfig.choose(list(configs.values()), selection)
        from modelexport_cli.cluster.client import open_context

        return open_context(access, list(configs))
    if "KUBERNETES_SERVICE_HOST" in os.environ and selection.kubeconfig is None:
        return _in_pod(selection)
    listed = " and ".join(map(str, files))
    verb = "do not exist or are" if len(files) > 1 else "does not exist or is"
    raise ClusterError(
        f"no cluster is configured: {listed} {verb} empty",
        "Set KUBECONFIG or --kubeconfig to the file that kubectl uses.",
    )


def _in_pod(selection: Selection) -> Cluster:
    if selection.context:
        raise ClusterError(
            f"there is no kubeconfig, so there is no context {selection.context}",
            "Leave out --context, or set --kubeconfig.",
        )
    namespace = selection.namespace or kubeconfig.DEFAULT_NAMESPACE
    if selection.namespace is None and _POD_NAMESPACE.exists():
        namespace = _POD_NAMESPACE.read_text(encoding="utf-8").strip()
    from modelexport_cli.cluster.client import open_in_pod

    return open_in_pod(Access("", namespace))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ClusterError(f"the kubeconfig {path} cannot be read: {one_line(error)}") from None
    if config is not None and not isinstance(config, dict):
        raise ClusterError(f"the kubeconfig {path} is not a YAML mapping")
    return config or {}
