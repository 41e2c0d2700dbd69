"""Every error class of boto3, mapped to the few failures of `errors`.

Pure: an exception goes in, an `ExportFailure` comes out.
"""

from __future__ import annotations

from boto3.exceptions import Boto3Error
from botocore import exceptions as boto
from botocore.parsers import ResponseParserError

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.errors import Access, denied, missing, unavailable
from modelexport_exporter.storage.s3_codes import (
    ABORTED,
    BUSY,
    DAMAGED,
    UPLOAD_GONE,
    IncompleteAnswerError,
    code_in,
    status_in,
)
from modelexport_exporter.storage.store import Role

_MISSING = {"404", "NoSuchKey", "NoSuchBucket", "NoSuchVersion", "405", "MethodNotAllowed"}
_ARCHIVED = {"InvalidObjectState"}
_ELSEWHERE = {"301", "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocation"}
_SKEWED = {"RequestTimeTooSkewed"}
_UNKNOWN_CREDENTIALS = {
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "InvalidToken",
    "ExpiredToken",
    "TokenRefreshRequired",
    "401",
}
_PASSES = {
    *ABORTED,
    *BUSY,
    *DAMAGED,
    *UPLOAD_GONE,
    "Throttling",
    "ThrottlingException",
    "InternalError",
    "ServiceUnavailable",
    "ConditionalRequestConflict",
}
_NO_CREDENTIALS = (
    boto.NoCredentialsError,
    boto.PartialCredentialsError,
    boto.CredentialRetrievalError,
    boto.TokenRetrievalError,
    boto.ProfileNotFound,
    boto.UnauthorizedSSOTokenError,
    boto.NoAuthTokenError,
)
_BAD_REQUEST = (boto.ParamValidationError, boto.InvalidRegionError, boto.NoRegionError)
_NOT_IMPLEMENTED = {"501", "NotImplemented"}
_SERVER_ERROR = 500
_BUSY_STATUSES = {408, 425, 429}


def from_botocore(error: Exception, access: Access) -> ExportFailure:
    """Return the failure for an error of boto3."""
    if isinstance(error, Boto3Error):
        # boto3 wraps what went wrong in a transfer and keeps it as the context.
        inner = error.__cause__ or error.__context__
        if isinstance(inner, Exception):
            return from_botocore(inner, access)
    if isinstance(error, boto.ClientError):
        return _from_answer(error, access)
    if isinstance(error, _NO_CREDENTIALS):
        return denied(access, "no usable credentials were found", f"Check {access.identity}.")
    if isinstance(error, (*_BAD_REQUEST, ValueError)):
        return ExportFailure(
            Reason.INVALID_MANIFEST,
            f"{access.uri} cannot be requested: {_one_line(error)}",
            "Check the uri, spec.storage.endpoint and spec.storage.region.",
        )
    if isinstance(error, IncompleteAnswerError | ResponseParserError):
        detail = f"{access.server} gave no answer of S3 ({_one_line(error)[:200]})"
        return unavailable(access, detail)
    return unavailable(access, _one_line(error))


def _from_answer(error: boto.ClientError, access: Access) -> ExportFailure:
    code, status = code_in(error.response), status_in(error.response)
    if code in _MISSING:
        return missing(access, "the bucket does not exist" if code == "NoSuchBucket" else "")
    if code in _ARCHIVED:
        return missing(access, "the object is archived", "Restore the object, then run it again.")
    if code in _ELSEWHERE:
        return ExportFailure(
            Reason.INVALID_MANIFEST,
            f"{access.uri} is in another region than the configured one ({code})",
            "Set spec.storage.region to the bucket's region.",
        )
    if code in _NOT_IMPLEMENTED:
        hint = "ModelExport needs conditional writes, multipart uploads and ranges: use a server "
        return denied(access, f"{access.server} answered {code}", f"{hint}that has them.")
    if code in _PASSES or status in _BUSY_STATUSES or status >= _SERVER_ERROR:
        return unavailable(access, f"{access.server} answered {code or status}")
    return denied(access, *_refusal(code or str(status), access))


def _refusal(code: str, access: Access) -> tuple[str, str]:
    """Return the failure for a denied request, with what to check."""
    if code in _SKEWED:
        hint = "Set the node's clock; S3 refuses requests more than 15 minutes off."
        return f"the clock is wrong ({code})", hint
    if code in _UNKNOWN_CREDENTIALS:
        hint = f"Check the keys in {access.identity}."
        return f"{access.server} does not accept the credentials ({code})", hint
    allowed = _permissions(access.role)
    hint = f"Check what {access.identity} may do there: {allowed} are needed."
    return f"{access.server} answered {code}", hint


def _permissions(role: Role) -> str:
    if role is Role.DESTINATION:
        return "s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket"
    return "s3:GetObject and s3:ListBucket"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
