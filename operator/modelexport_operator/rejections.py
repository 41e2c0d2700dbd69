"""The cause of a rejected request: the only place that reads the text of an API server's answer.

The API server reports an exceeded quota, a missing permission and an admission policy alike, as
403 Forbidden without a machine-readable cause; they differ in the message only. So does a server
that has just started and knows nothing yet. A webhook that does not answer is a 500 like any other.
Of a pod that could not be created there is nothing but the message, in an Event of the Job.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Cause(Enum):
    """Why the API server rejected a request."""

    QUOTA = auto()
    NAMESPACE_TERMINATING = auto()
    MISSING_PERMISSION = auto()
    WEBHOOK = auto()
    SERVER_STARTING = auto()
    OTHER = auto()


@dataclass(frozen=True)
class Rejection:
    """The message of a rejected request, and its cause."""

    message: str
    cause: Cause


_TEXTS = {
    "exceeded quota": Cause.QUOTA,
    "status unknown for quota": Cause.QUOTA,
    "being terminated": Cause.NAMESPACE_TERMINATING,
    "cannot create resource": Cause.MISSING_PERMISSION,
    "failed calling webhook": Cause.WEBHOOK,
    "not yet ready to handle request": Cause.SERVER_STARTING,
}
_REFUSALS = ("is forbidden", "is invalid", "denied the request")
"""Other messages are of a request that did not arrive, or of a server that could not do it."""


def cause_of(message: str) -> Cause:
    """Return the cause that a message names."""
    return next((cause for text, cause in _TEXTS.items() if text in message), Cause.OTHER)


def is_refusal(rejection: Rejection) -> bool:
    """Return whether the API server would refuse every retry, too."""
    refused = any(words in rejection.message for words in _REFUSALS)
    return refused and rejection.cause is Cause.OTHER
