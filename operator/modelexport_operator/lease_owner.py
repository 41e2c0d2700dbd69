"""The owner of the Lease: the operator's own service account.

`helm uninstall` deletes the permissions while the leader still ends. It can then no longer release
its Lease, and the next installation would wait until the Lease expires. As a dependent of the
service account, the Lease is deleted with it: when the old leader can write nothing more.
"""

from __future__ import annotations

import logging
from typing import Any

from modelexport_operator.client import Api
from modelexport_operator.transport import ApiError, Body

_REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

log = logging.getLogger(__name__)


def owner_from(review: Body, namespace: str) -> dict[str, Any] | None:
    """Return the owner reference for a SelfSubjectReview.

    None if the user is not a service account of the Lease's namespace.
    """
    user = review.get("status", {}).get("userInfo", {})
    match user.get("username", "").split(":"):
        case ["system", "serviceaccount", found, name] if found == namespace and user.get("uid"):
            return {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "name": name,
                "uid": user["uid"],
            }
    return None


async def find_owner(api: Api, namespace: str) -> dict[str, Any] | None:
    """Ask the API server who this process is."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        review = await api.call("POST", _REVIEWS, "selfsubjectreviews", body=body)
    except ApiError as error:
        log.info("the Lease gets no owner: %s", error)
        return None
    return owner_from(review, namespace)
