"""Error codes of S3 that are answers rather than failures, or that pass when asked again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MISSING = {"404", "NoSuchKey", "NoSuchVersion"}
CONDITION = {"412", "PreconditionFailed", "409", "ConditionalRequestConflict"}
UPLOAD_GONE = {"NoSuchUpload"}
"""Somebody aborted the multipart upload: a run that cleans up, or a lifecycle rule."""
DAMAGED = {"BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch"}
"""The request arrived with other bytes than were sent."""
BUSY = {"408", "425", "429", "RequestTimeout", "SlowDown", "TooEarly", "TooManyRequests"}
WITHOUT_BODY = {"400", "403"}
"""What a HEAD answers instead of a code: it has no body that could name one."""


def error_code(error: BaseException | None) -> str:
    """Return the code of an error of boto3; empty if it has none."""
    return code_in(getattr(error, "response", {}))


def code_in(response: Mapping[str, Any]) -> str:
    """Return the code in an answer of S3; empty if it is no error."""
    return str(response.get("Error", {}).get("Code", ""))


def status_in(response: Mapping[str, Any]) -> int:
    """Return the HTTP status of an answer of S3; 0 if it has none."""
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
