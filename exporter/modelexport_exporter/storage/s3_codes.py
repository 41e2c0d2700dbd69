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
ABORTED = {"OperationAborted", "TemporaryRedirect"}
"""Another operation on the bucket is in progress, or its address has not reached this server."""
BUSY = {"408", "425", "429", "RequestTimeout", "SlowDown", "TooEarly", "TooManyRequests"}
WITHOUT_BODY = {"400", "403"}
"""What a HEAD answers instead of a code: it has no body that could name one."""


REQUIRED = {
    "HeadObject": ("ContentLength", "ETag", "LastModified"),
    "GetObject": ("ETag",),
    "PutObject": ("ETag",),
    "CopyObject": ("CopyObjectResult",),
    "CreateMultipartUpload": ("UploadId",),
    "UploadPart": ("ETag",),
    "UploadPartCopy": ("CopyPartResult",),
    "CompleteMultipartUpload": ("ETag",),
    "ListObjectsV2": ("IsTruncated",),
}
"""What every answer of S3 to an operation has."""
_OK = 200
_REDIRECT = 300


class IncompleteAnswerError(Exception):
    """An answer that says nothing of what every answer of S3 says: something in between sent it."""


def required(answer: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401
    """Return a part of an answer. Raises IncompleteAnswerError if it is missing."""
    if name not in answer:
        raise IncompleteAnswerError(f"the answer has no {name}")
    return answer[name]


def is_incomplete(operation: str, answer: Mapping[str, Any]) -> bool:
    """Return whether an answer that reports success lacks what every one has."""
    success = _OK <= status_in(answer) < _REDIRECT and not code_in(answer)
    lacks = any(name not in answer for name in REQUIRED.get(operation, ()))
    endless = operation == "GetObject" and not states_its_end(answer)
    return success and (lacks or endless or _is_cut(answer.get("ETag", "")))


def _is_cut(etag: str) -> bool:
    """Return whether the end of an ETag is missing. Some servers send it without quotes."""
    return etag.removeprefix("W/").startswith('"') and etag.count('"') == 1


def states_its_end(answer: Mapping[str, Any]) -> bool:
    """Return whether the length of the body is known: of half a header it ends with the connection.

    Servers behind a proxy may send chunks instead of a length.
    """
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    return "ContentLength" in answer or "chunked" in headers.get("transfer-encoding", "").lower()


def error_code(error: BaseException | None) -> str:
    """Return the code of an error of boto3; empty if it has none."""
    # Errors of a connection have a response, too: None.
    return code_in(getattr(error, "response", None) or {})


def code_in(response: Mapping[str, Any]) -> str:
    """Return the code in an answer of S3; empty if it is no error."""
    return str(response.get("Error", {}).get("Code", ""))


def status_in(response: Mapping[str, Any]) -> int:
    """Return the HTTP status of an answer of S3; 0 if it has none."""
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
