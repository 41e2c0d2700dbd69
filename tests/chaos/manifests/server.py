"""A real API server's answer to a manifest file, as kubectl would send it: checked strictly."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import urllib3

from bed.control_plane import ControlPlane
from modelexport_api import API_VERSION, PLURAL
from modelexport_api.trigger import TRIGGER_PLURAL

CREATED, CONFLICT = 201, 409
_TOO_LARGE = 413
_MOST_BYTES = 3 << 20


@dataclass(frozen=True)
class Reply:
    """What the API server answered."""

    status: int
    body: dict[str, Any]
    """What it stored, or the reason of its refusal."""

    @property
    def accepted(self) -> bool:
        """Return whether nothing was wrong with the object; its name may be taken."""
        return self.status in {CREATED, CONFLICT}

    @property
    def message(self) -> str:
        """Return why it was refused."""
        return str(self.body.get("message", ""))


class Server:
    """The API server of a control plane, for one namespace."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        config = json.loads(plane.kubeconfig.read_text())
        user = config["users"][0]["user"]
        self._pool = urllib3.PoolManager(
            ca_certs=config["clusters"][0]["cluster"]["certificate-authority"],
            cert_file=user["client-certificate"],
            key_file=user["client-key"],
        )
        self._root = f"{plane.url}/apis/{API_VERSION}/namespaces/{namespace}"

    def create(self, data: bytes, *, trigger: bool) -> Reply:
        """Send a file; a field that is unknown or occurs twice is an error."""
        plural = TRIGGER_PLURAL if trigger else PLURAL
        if len(data) > _MOST_BYTES:  # it answers, and closes the connection while it is written to
            return Reply(_TOO_LARGE, {"message": "Request entity too large"})
        answer = self._pool.request(
            "POST",
            f"{self._root}/{plural}?fieldValidation=Strict",
            body=data,
            headers={"Content-Type": "application/yaml", "Accept": "application/json"},
            timeout=60,
        )
        try:
            body = json.loads(answer.data)
        except ValueError:
            body = {"message": answer.data.decode(errors="replace")}
        return Reply(answer.status, body if isinstance(body, dict) else {"message": str(body)})

    def all(self, *, trigger: bool) -> dict[str, dict[str, Any]]:
        """Return all objects of the namespace by name."""
        plural = TRIGGER_PLURAL if trigger else PLURAL
        answer = self._pool.request("GET", f"{self._root}/{plural}", timeout=60)
        return {item["metadata"]["name"]: item for item in json.loads(answer.data)["items"]}
