"""Who may read the metrics: clients whose bearer token may `get` the path /metrics.

As controller-runtime and kube-rbac-proxy do it: a TokenReview says whose the token is, a
SubjectAccessReview whether that user may. Answers are kept for a while, under the token's digest.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from modelexport_operator.client import Api
from modelexport_operator.limiter import Limiter
from modelexport_operator.transport import ApiError, Body

PATH, VERB = "/metrics", "get"

FRESH_SECONDS, REFUSED_SECONDS = 60.0, 10.0
STALE_SECONDS = 300.0
"""Metrics say why the API server does not answer: what was allowed stays so for this long then."""
_ENTRIES = 1024
_REVIEWS_PER_SECOND, _REVIEWS_AT_ONCE = 5, 10
"""For tokens that were not allowed before: anybody who reaches the port can send any."""
_AUTHENTICATION, _AUTHORIZATION = "/apis/authentication.k8s.io/v1", "/apis/authorization.k8s.io/v1"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Access:
    """The answer to a client; `message` is for the one who configures the scrape."""

    status: HTTPStatus
    message: str = ""

    @property
    def allowed(self) -> bool:
        """Return whether the client gets the metrics."""
        return self.status is HTTPStatus.OK


ALLOWED = Access(HTTPStatus.OK)
NO_TOKEN = Access(
    HTTPStatus.UNAUTHORIZED,
    "TokenMissing: expected the header 'Authorization: Bearer TOKEN' with the token of a service "
    "account",
)
NOT_NOW = Access(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "TokenNotReviewed: the token cannot be checked now; repeat the request",
)


def bearer_token(header: str | None) -> str | None:
    """Return the token of an Authorization header."""
    scheme, _, token = (header or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def token_review(token: str) -> Body:
    """Return the question whose token it is. Its audience is the API server's."""
    return {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": {"token": token},
    }


def reviewed_user(review: Body) -> Body | None:
    """Return the user of a TokenReview's answer; None if the token is not valid."""
    status = review.get("status") or {}
    user = status.get("user") or {}
    return user if status.get("authenticated") is True and user.get("username") else None


def access_review(user: Body) -> Body:
    """Return the question whether the user may read the metrics."""
    fields = {key: user[key] for key in ("uid", "groups", "extra") if user.get(key)}
    attributes = {"path": PATH, "verb": VERB}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user["username"], **fields, "nonResourceAttributes": attributes},
    }


def access_of(user: Body, review: Body) -> Access:
    """Return what a SubjectAccessReview's answer means."""
    if (review.get("status") or {}).get("allowed") is True:
        return ALLOWED
    return Access(
        HTTPStatus.FORBIDDEN,
        f"MetricsForbidden: {user['username']} may not {VERB} the path {PATH}; bind it to the "
        "ClusterRole of the release whose name ends with -metrics-reader (chart: "
        "metrics.secure.readers)",
    )


INVALID = Access(
    HTTPStatus.UNAUTHORIZED,
    "TokenInvalid: the API server does not accept the token: it has expired, or is of another "
    "cluster or audience",
)


class KnownTokens:
    """The answers of the last minutes, the oldest forgotten first. Tokens are not kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[bytes, tuple[Access, float]] = OrderedDict()

    def remember(self, token: str, access: Access) -> None:
        """Keep an answer of the API server."""
        key = _digest(token)
        self._known[key] = (access, self._clock())
        self._known.move_to_end(key)
        if len(self._known) > _ENTRIES:
            self._known.popitem(last=False)

    def find(self, token: str) -> Access | None:
        """Return an answer that needs no new question."""
        access, age = self._look(token)
        if access is None:
            return None
        return access if age < (FRESH_SECONDS if access.allowed else REFUSED_SECONDS) else None

    def was_allowed(self, token: str) -> bool:
        """Return whether the token was allowed at the last answer, a short time ago."""
        access, age = self._look(token)
        return access is not None and access.allowed and age < STALE_SECONDS

    def _look(self, token: str) -> tuple[Access | None, float]:
        access, since = self._known.get(_digest(token), (None, 0.0))
        return access, self._clock() - since


class Gate:
    """Decides about the requests for metrics."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known = KnownTokens()
        self._limiter = Limiter(_REVIEWS_PER_SECOND, _REVIEWS_AT_ONCE)

    async def check(self, headers: Mapping[str, str]) -> Access:
        """Return whether a request with these headers gets the metrics."""
        token = bearer_token(headers.get("Authorization"))
        if token is None:
            return NO_TOKEN
        found = self._known.find(token)
        if found is not None:
            return found
        was_allowed = self._known.was_allowed(token)
        if not was_allowed and not self._limiter.try_take():
            return NOT_NOW
        try:
            access = await self._review(token)
        except ApiError as error:
            log.warning("failed to review a token for the metrics: %s", error)
            return ALLOWED if was_allowed else NOT_NOW
        self._known.remember(token, access)
        return access

    async def _review(self, token: str) -> Access:
        review = self._api.create_review
        user = reviewed_user(await review(_AUTHENTICATION, "tokenreviews", token_review(token)))
        if user is None:
            return INVALID
        question = access_review(user)
        return access_of(user, await review(_AUTHORIZATION, "subjectaccessreviews", question))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
