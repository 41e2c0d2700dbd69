"""Where the report of an export is, and how this machine reads it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from modelexport_api.claims import CLAIMS_DIR_ENV, is_claim, split
from modelexport_api.reasons import Reason
from modelexport_api.spec import Storage
from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.export import Export


def page_of(export: Export) -> str:
    """Return the URI of the page: next to report.json, or the index of a batch.

    Raises ClusterError if there is no report.
    """
    uri = export.status.report_uri
    if uri is not None:
        return f"{uri.removesuffix('.json')}.html" if uri.endswith(".json") else uri
    if export.failure is not None:
        raise ClusterError(
            f"{export.name} has no report: it failed before one was published "
            f"({export.failure.reason.value}: {export.failure.message})",
            export.failure.hint,
        )
    raise ClusterError(
        f"{export.name} has no report yet ({export.state}): it is published at the end",
    )


def storage_of(spec: Mapping[str, Any], endpoint: str | None) -> Storage:
    """Return how to reach the store: as the spec says, but with the user's own credentials."""
    found = {
        key: value for key, value in (spec.get("storage") or {}).items() if key != "secretName"
    }
    if endpoint is not None:
        found["endpoint"] = endpoint
    try:
        return Storage.model_validate(found)
    except ValidationError:
        problem = f"expected a URL that begins with http:// or https://, found {endpoint}"
        raise ClusterError(f"--endpoint: {problem}") from None


def file_name(name: str) -> str:
    """Return the name of the saved page."""
    return f"{name}-report.html"


def absent(uri: str) -> str:
    """Return what is wrong if this machine finds no page there."""
    if is_claim(uri) or uri.startswith("file://"):
        return f"{uri} is in a volume of the cluster, which this machine does not mount"
    return f"{uri} not found"


def hint(reason: Reason, uri: str, storage: Storage) -> str:
    """Return what to check if this machine cannot read the page."""
    if is_claim(uri):
        claim, path = split(uri)
        return (
            f"Copy {path} from a pod that mounts the PersistentVolumeClaim {claim} (kubectl cp), "
            f"or mount the volume here and set {CLAIMS_DIR_ENV} to the directory that has {claim}/."
        )
    if uri.startswith("file://"):
        return (
            "Mount the same volume here at the same path, or copy the file from a pod that "
            "mounts it (kubectl cp)."
        )
    if reason is Reason.ACCESS_DENIED:
        return (
            "The report is read with your own credentials: set AWS_PROFILE, or "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, to keys that may read it."
        )
    if reason is Reason.SOURCE_NOT_FOUND:
        return "It was deleted or moved since it was published."
    if reason is Reason.STORE_UNAVAILABLE and _is_internal(storage.endpoint):
        return (
            f"{storage.endpoint} is a name inside the cluster: forward its port (`kubectl "
            "port-forward`) and add --endpoint http://localhost:PORT."
        )
    return "Check the network, or choose another server by --endpoint."


def _is_internal(endpoint: str | None) -> bool:
    """Return whether an endpoint is a name that only a cluster's DNS knows."""
    host = urlsplit(endpoint or "").hostname or ""
    labels = host.split(".")
    return bool(host) and host != "localhost" and ("svc" in labels or len(labels) == 1)
