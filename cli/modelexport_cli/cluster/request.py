"""A request to the API server, its answer, and what a refusal means for the user. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modelexport_api import API_VERSION, GROUP, PLURAL
from modelexport_api.reasons import ExitCode
from modelexport_cli.cluster.errors import USAGE, ClusterError

EXPORTS = f"/apis/{API_VERSION}"
CORE = "/api/v1"
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _CONFLICT = 401, 403, 404, 409
_REJECTED = {400, 422}
_TEMPORARY = {410, 429}
_SERVER_ERROR = 500


@dataclass(frozen=True)
class Access:
    """Where requests go."""

    context: str
    """Empty in a pod, where there is no kubeconfig."""
    namespace: str
    server: str = ""

    def __str__(self) -> str:
        """Name the cluster in a sentence."""
        return f"the cluster of context {self.context}" if self.context else "this pod's cluster"


@dataclass(frozen=True)
class Request:
    """A request for objects of one kind in a namespace."""

    verb: str
    """As in a Role: get, list, create."""
    resource: str
    namespace: str
    name: str = ""
    root: str = EXPORTS
    suffix: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    content_type: str = "application/json"

    @property
    def method(self) -> str:
        """Return the HTTP method of the verb."""
        methods = {"create": "POST", "patch": "PATCH", "delete": "DELETE"}
        return methods.get(self.verb, "GET")

    @property
    def path(self) -> str:
        """Return the path on the server."""
        name = f"/{self.name}" if self.name else ""
        return f"{self.root}/namespaces/{self.namespace}/{self.resource}{name}{self.suffix}"

    @property
    def kind(self) -> str:
        """Return the resource as Roles and `kubectl auth can-i` name it."""
        below = self.suffix if self.root == CORE else ""
        return f"{self.resource}.{GROUP}" if self.resource == PLURAL else f"{self.resource}{below}"


@dataclass(frozen=True)
class Refusal:
    """An answer other than 2xx."""

    status: int
    reason: str
    """Empty if the answer is not a Status of Kubernetes."""
    message: str
    kind: str = ""
    """What the Status is about, such as `namespaces`."""


def read_refusal(status: int, data: bytes) -> Refusal:
    """Return the refusal in an answer's body."""
    try:
        body = json.loads(data)
    except ValueError:
        body = None
    if not isinstance(body, dict) or body.get("kind") != "Status":
        return Refusal(status, "", " ".join(data[:300].decode(errors="replace").split()))
    details = body.get("details") or {}
    return Refusal(
        status, body.get("reason") or "", body.get("message") or "", details.get("kind") or ""
    )


def unreachable(access: Access, error: str) -> ClusterError:
    """Return the error for a server that does not answer."""
    at = f" ({access.server})" if access.server else ""
    return ClusterError(
        f"{access}{at} does not answer: {error}",
        "Check the network and the VPN; `kubectl cluster-info` asks the same server. Another "
        "cluster is chosen by --context.",
        exit_code=int(ExitCode.RETRYABLE),
        reason="Unreachable",
    )


def explain(request: Request, refusal: Refusal, access: Access) -> ClusterError:
    """Return a refused request as sentences with the exit code."""
    message, hint = _sentences(request, refusal, access)
    return ClusterError(
        message, hint, exit_code=_exit_code(request, refusal), reason=refusal.reason
    )


def _exit_code(request: Request, refusal: Refusal) -> int:
    if request.verb == "create" and refusal.status in _REJECTED:
        return int(ExitCode.MANIFEST)
    if refusal.status in _TEMPORARY or refusal.status >= _SERVER_ERROR:
        return int(ExitCode.RETRYABLE)
    return USAGE


def _sentences(request: Request, refusal: Refusal, access: Access) -> tuple[str, str]:
    """Return message and hint."""
    if refusal.status == _UNAUTHORIZED:
        return (
            f"{access} does not accept your credentials: {refusal.message or 'Unauthorized'}",
            "Log in again; `kubectl auth whoami` shows whether it worked.",
        )
    if refusal.status == _FORBIDDEN:
        return (
            f"you may not {request.verb} {request.kind} in namespace {request.namespace}: "
            f"{refusal.message}",
            f"Ask for a Role that allows it, or choose another namespace by --namespace. "
            f"`kubectl auth can-i {request.verb} {request.kind} -n {request.namespace}` "
            "shows what you may do.",
        )
    if refusal.status == _NOT_FOUND:
        return _not_found(request, refusal, access)
    subject = f"{request.resource}/{request.name}" if request.name else request.resource
    if refusal.status == _CONFLICT or refusal.status in _REJECTED:
        return f"{access} rejects {subject}: {refusal.message}", ""
    return f"{access} could not {request.verb} {subject}: {refusal.message}", "Try again."


def _not_found(request: Request, refusal: Refusal, access: Access) -> tuple[str, str]:
    if not refusal.reason and request.root == EXPORTS:
        return (
            f"{access} does not know ModelExports: the CRD {request.resource}.{GROUP} is not "
            "installed",
            "Install the chart modelexport there, or choose another cluster by --context.",
        )
    if refusal.kind == "namespaces":
        return (
            f"{access} has no namespace {request.namespace}",
            f"Create it (`kubectl create namespace {request.namespace}`), or choose another one "
            "by --namespace.",
        )
    return f"{request.resource}/{request.name} not found in namespace {request.namespace}", ""
