"""A Helm release on the control plane, and replicas with its settings, account and permissions.

Without a kubelet the pods of the Deployment never run; a replica is a process of this machine that
uses the release's ConfigMap and a token of the release's service account.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from bed import processes
from bed.control_plane import ControlPlane
from cluster.operator.replica import Operators, Replica, lease
from unit.chart.rendering import CHART


@dataclass
class Release:
    """A release in one namespace, which it watches."""

    plane: ControlPlane
    operators: Operators
    helm: Path
    namespace: str
    name: str = "modelexport"
    values: dict[str, Any] = field(default_factory=dict)

    def install(self, chart: Path = CHART, *flags: str) -> None:
        """`helm upgrade --install` without waiting: pods never run here."""
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "values.yaml"
            file.write_text(json.dumps(self.values))
            self.run("upgrade", "--install", self.name, str(chart), "--values", str(file), *flags)

    def uninstall(self) -> None:
        self.run("uninstall", self.name)

    def run(self, *arguments: str) -> str:
        options = ("--kubeconfig", self.plane.kubeconfig, "--namespace", self.namespace)
        return processes.call([self.helm, *arguments, *options])

    def start(self, replica: str, **settings: object) -> Replica:
        """Start a replica as the Deployment's pod would, with other settings for this machine."""
        return self._operators().start(replica, **{**self._settings(), **settings})

    def settings_file(self) -> Path:
        """Write the release's settings to a file."""
        path = self.plane.run.directory / f"{self.namespace}-{self.name}.settings.yaml"
        path.write_text(yaml.safe_dump(self._settings()))
        return path

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl as the operator's service account."""
        token = self.account_kubeconfig()
        changed = replace(self.plane, kubeconfig=token)
        return changed.kubectl("--namespace", self.namespace, *arguments, stdin=stdin)

    def account_kubeconfig(self) -> Path:
        """Write a kubeconfig with a token of the release's service account."""
        account = self._object("deployment")["spec"]["template"]["spec"]["serviceAccountName"]
        token = self.plane.kubectl("create", "token", account, "--namespace", self.namespace)
        config = yaml.safe_load(self.plane.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": token.strip()}
        path = self.plane.run.directory / f"{self.namespace}-{self.name}.kubeconfig"
        path.write_text(json.dumps(config))
        return path

    def lease(self) -> dict[str, Any] | None:
        """Return the release's Lease, if there is one."""
        name = self._lease_name
        found = self.plane.get("leases", "--namespace", self.namespace)["items"]
        return next((one for one in found if one["metadata"]["name"] == name), None)

    @property
    def _lease_name(self) -> str:
        return self.name if "modelexport" in self.name else f"{self.name}-modelexport"

    def _operators(self) -> Operators:
        return replace(self.operators, kubeconfig=self.account_kubeconfig())

    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = yaml.safe_load(self._object("configmap")["data"]["config.yaml"])
        return {**{key: v for key, v in settings.items() if key != "port"}, "lease": self._lease()}

    def _lease(self) -> dict[str, Any]:
        return {**lease(10), "name": self._lease_name}

    def _object(self, kind: str) -> dict[str, Any]:
        return self.plane.get(kind, self._lease_name, "--namespace", self.namespace)
