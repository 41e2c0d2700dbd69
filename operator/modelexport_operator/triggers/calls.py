"""The requests of triggers to the API server."""

from __future__ import annotations

from typing import Any, Protocol

from modelexport_api import API_VERSION, PLURAL
from modelexport_api.trigger import TRIGGER_KIND, TRIGGER_PLURAL
from modelexport_operator import names
from modelexport_operator.client import EXPORTS
from modelexport_operator.transport import NOT_FOUND, ApiError, collection

Body = dict[str, Any]


class RequestApi(Protocol):
    """The part of the API that triggers need."""

    async def call(
        self,
        method: str,
        path: str,
        resource: str,
        *,
        query: dict[str, str] | None = None,
        body: Body | None = None,
        content_type: str = "application/json",
    ) -> Body:
        """Send a request."""


async def read_trigger(api: RequestApi, namespace: str, name: str, uid: str) -> Body | None:
    """Read a trigger; return None if it was deleted, or replaced by another of its name."""
    path = f"{collection(EXPORTS, namespace, TRIGGER_PLURAL)}/{name}"
    try:
        body = await api.call("GET", path, TRIGGER_PLURAL)
    except ApiError as error:
        if error.status == NOT_FOUND:
            return None
        raise
    return body if body["metadata"]["uid"] == uid else None


async def write_status(api: RequestApi, trigger: Body, status: Body) -> Body:
    """Write a trigger's status. Fails with a conflict if the trigger has changed."""
    kept = ("namespace", "name", "uid", "resourceVersion")
    meta = {key: trigger["metadata"][key] for key in kept}
    path = f"{collection(EXPORTS, meta['namespace'], TRIGGER_PLURAL)}/{meta['name']}/status"
    body = {"apiVersion": API_VERSION, "kind": TRIGGER_KIND, "metadata": meta, "status": status}
    return await api.call(
        "PATCH",
        path,
        f"{TRIGGER_PLURAL}/status",
        query={"fieldManager": names.STATUS_MANAGER, "force": "true"},
        body=body,
        content_type="application/apply-patch+yaml",
    )


async def create_export(api: RequestApi, manifest: Body) -> bool:
    """Create a ModelExport; return False if its name already exists."""
    path = collection(EXPORTS, manifest["metadata"]["namespace"], PLURAL)
    try:
        await api.call("POST", path, PLURAL, query={"fieldValidation": "Strict"}, body=manifest)
    except ApiError as error:
        if error.reason == "AlreadyExists":
            return False
        raise
    return True


async def owner_of(api: RequestApi, namespace: str, name: str) -> str | None:
    """Return the uid of the controller that owns a ModelExport; None if there is none."""
    path = f"{collection(EXPORTS, namespace, PLURAL)}/{name}"
    body = await api.call("GET", path, PLURAL)
    owners = body["metadata"].get("ownerReferences") or []
    return next((owner["uid"] for owner in owners if owner.get("controller")), None)
