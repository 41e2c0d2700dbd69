"""Requests to the API server with the user's kubeconfig; the only file that imports `kubernetes`.

Objects are plain JSON, so that no field is dropped that this version does not know.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import urllib3
from kubernetes import client as kubernetes_client
from kubernetes import config as kubernetes_config
from kubernetes.config.config_exception import ConfigException

from modelexport_api import PLURAL
from modelexport_cli.cluster.errors import ClusterError, one_line
from modelexport_cli.cluster.request import (
    CORE,
    EXPORTS,
    Access,
    Request,
    explain,
    read_refusal,
    unreachable,
)

Body = dict[str, Any]
Query = Mapping[str, str]
WATCH_SECONDS = 60
"""The API server ends a watch after this time; then a new one is started."""
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 30.0
_MERGE_PATCH = "application/merge-patch+json"


class Cluster:
    """The API server as one user sees one namespace. Created by `connection`."""

    def __init__(self, client: kubernetes_client.ApiClient, access: Access) -> None:
        self._client = client
        self.access = access

    @property
    def namespace(self) -> str:
        """Return the namespace of all requests."""
        return self.access.namespace

    def within(self, namespace: str) -> Cluster:
        """Return the same cluster in another namespace."""
        return Cluster(self._client, replace(self.access, namespace=namespace))

    def get_export(self, name: str) -> Body:
        """Read a ModelExport."""
        return self._json(Request("get", PLURAL, self.namespace, name))

    def export_names(self) -> list[str]:
        """Return the names of all ModelExports of the namespace."""
        found = self._json(Request("list", PLURAL, self.namespace))
        return [item["metadata"]["name"] for item in found["items"]]

    def create_export(self, body: Body) -> Body:
        """Create a ModelExport; unknown fields are an error."""
        query = {"fieldValidation": "Strict", "fieldManager": "modelexport"}
        return self._json(Request("create", PLURAL, self.namespace, query=query, body=body))

    def patch_export(self, name: str, patch: Body) -> Body:
        """Merge-patch a ModelExport."""
        query = {"fieldManager": "modelexport"}
        return self._json(
            Request(
                *("patch", PLURAL, self.namespace, name),
                query=query,
                body=patch,
                content_type=_MERGE_PATCH,
            )
        )

    def delete_export(self, name: str, uid: str) -> None:
        """Delete a ModelExport in the foreground, unless it was replaced."""
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid},
            "propagationPolicy": "Foreground",
        }
        self._json(Request("delete", PLURAL, self.namespace, name, body=body))

    def list_objects(self, resource: str, query: Query, root: str = CORE) -> Body:
        """List objects of the namespace."""
        return self._json(Request("list", resource, self.namespace, root=root, query=query))

    def watch_objects(
        self, resource: str, query: Query, version: str, root: str = CORE
    ) -> Iterator[Body]:
        """Yield the events of a watch until the API server ends it."""
        asked = {
            **query,
            "watch": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        request = Request("watch", resource, self.namespace, root=root, query=asked)
        for line in self._lines(request, WATCH_SECONDS + _READ_SECONDS):
            yield json.loads(line)

    def export_objects(self, name: str) -> Body:
        """List the ModelExport of a name, with the version from which to watch it."""
        return self.list_objects(PLURAL, _named(name), EXPORTS)

    def watch_export(self, name: str, version: str) -> Iterator[Body]:
        """Yield the events of a watch of one ModelExport."""
        return self.watch_objects(PLURAL, _named(name), version, EXPORTS)

    def pods(self, selector: str) -> list[Body]:
        """Return the pods with these labels."""
        items: list[Body] = self.list_objects("pods", {"labelSelector": selector})["items"]
        return items

    def log_lines(
        self, pod: str, container: str, *, follow: bool, tail: int | None
    ) -> Iterator[str]:
        """Yield the lines of a container's log, if `follow` until the container ends."""
        query = {"container": container, "follow": str(follow).lower()}
        if tail is not None:
            query["tailLines"] = str(tail)
        request = Request(
            *("get", "pods", self.namespace, pod), root=CORE, suffix="/log", query=query
        )
        for line in self._lines(request, None if follow else _READ_SECONDS):
            yield line.decode(errors="replace").rstrip("\r\n")

    def _json(self, request: Request) -> Body:
        with self._refusals(request):
            answer = self._call(request, _READ_SECONDS)
            data = answer.read()
            if not 200 <= answer.status < 300:  # noqa: PLR2004 - HTTP's boundaries
                raise explain(request, read_refusal(answer.status, data), self.access)
            parsed: Body = json.loads(data)
        return parsed

    def _lines(self, request: Request, read_seconds: float | None) -> Iterator[bytes]:
        with self._refusals(request):
            answer = self._call(request, read_seconds)
            try:
                if not 200 <= answer.status < 300:  # noqa: PLR2004
                    raise explain(request, read_refusal(answer.status, answer.read()), self.access)
                yield from answer.response
            finally:
                answer.response.close()

    @contextlib.contextmanager
    def _refusals(self, request: Request) -> Iterator[None]:
        try:
            yield
        except (urllib3.exceptions.HTTPError, OSError, json.JSONDecodeError) as error:
            raise unreachable(self.access, one_line(error)) from None
        except kubernetes_client.ApiException as error:
            refusal = read_refusal(error.status or 0, (error.body or error.reason or "").encode())
            raise explain(request, refusal, self.access) from None

    def _call(self, request: Request, read_seconds: float | None) -> Any:  # noqa: ANN401
        """Send the request. The library has no types."""
        headers = {"Content-Type": request.content_type, "Accept": "application/json, */*"}
        method, url, headers, body, _ = self._client.param_serialize(
            request.method,
            request.path,
            query_params=list(request.query.items()),
            header_params=headers,
            body=request.body,
            auth_settings=["BearerToken"],
        )
        return self._client.call_api(
            method, url, headers, body, _request_timeout=(_CONNECT_SECONDS, read_seconds)
        )


def open_context(access: Access, files: Sequence[Path]) -> Cluster:
    """Return the cluster of a context of the merged kubeconfig files. Raises ClusterError."""
    settings = _settings()
    _load(settings, access.context, files)
    return Cluster(kubernetes_client.ApiClient(settings), replace(access, server=settings.host))


def open_in_pod(access: Access) -> Cluster:
    """Return the cluster that this process is a pod of. Raises ClusterError."""
    settings = _settings()
    try:
        kubernetes_config.load_incluster_config(  # type: ignore[no-untyped-call]
            client_configuration=settings
        )
    except (ConfigException, OSError) as error:
        raise ClusterError(
            f"the service account of this pod cannot be used: {one_line(error)}",
            "Set automountServiceAccountToken, or KUBECONFIG.",
        ) from None
    return Cluster(kubernetes_client.ApiClient(settings), replace(access, server=settings.host))


def _settings() -> Any:  # noqa: ANN401
    settings = kubernetes_client.Configuration()
    settings.retries = False
    # kubectl does not warn about insecure-skip-tls-verify either.
    warnings.filterwarnings("ignore", category=urllib3.exceptions.InsecureRequestWarning)
    return settings


def _load(settings: Any, context: str, files: Sequence[Path]) -> None:  # noqa: ANN401
    """Load server and credentials; a credential plugin may run."""
    with _logged() as logged:
        try:
            kubernetes_config.load_kube_config(  # type: ignore[no-untyped-call]
                os.pathsep.join(map(str, files)),
                context,
                client_configuration=settings,
                persist_config=False,
            )
        except (ConfigException, OSError, ValueError, TypeError) as error:
            logged.append(one_line(error))
    if logged:
        raise ClusterError(
            f"the credentials of context {context} cannot be used: {' '.join(logged)}",
            "Check that `kubectl auth whoami` works with the same kubeconfig and context.",
        )


@contextlib.contextmanager
def _logged() -> Iterator[list[str]]:
    """Yield the errors that are logged meanwhile: a plugin that fails is not raised."""
    messages: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: messages.append(" ".join(record.getMessage().split()))  # type: ignore[method-assign]
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield messages
    finally:
        root.removeHandler(handler)


def _named(name: str) -> dict[str, str]:
    return {"fieldSelector": f"metadata.name={name}"}
