from __future__ import annotations

import pytest
from boto3.exceptions import S3UploadFailedError
from botocore import exceptions as boto
from botocore.parsers import ResponseParserError

from modelexport_api.pod import MANIFEST_ENV
from modelexport_api.reasons import Reason, is_retryable
from modelexport_exporter.storage.errors import Access
from modelexport_exporter.storage.s3_codes import IncompleteAnswerError
from modelexport_exporter.storage.s3_errors import from_botocore
from modelexport_exporter.storage.store import Role


def access(role: Role = Role.SOURCE) -> Access:
    return Access(role, "s3://models/run/model.pt", "training-keys", "http://minio:9000")


def answer(code: str, status: int = 400) -> boto.ClientError:
    response = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return boto.ClientError(response, "GetObject")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (answer("404", 404), Reason.SOURCE_NOT_FOUND),
        (answer("NoSuchKey", 404), Reason.SOURCE_NOT_FOUND),
        (answer("NoSuchBucket", 404), Reason.SOURCE_NOT_FOUND),
        (answer("NoSuchVersion", 404), Reason.SOURCE_NOT_FOUND),
        (answer("InvalidObjectState", 403), Reason.SOURCE_NOT_FOUND),
        (answer("403", 403), Reason.ACCESS_DENIED),
        (answer("AccessDenied", 403), Reason.ACCESS_DENIED),
        (answer("InvalidAccessKeyId", 403), Reason.ACCESS_DENIED),
        (answer("SignatureDoesNotMatch", 403), Reason.ACCESS_DENIED),
        (answer("ExpiredToken"), Reason.ACCESS_DENIED),
        (answer("RequestTimeTooSkewed", 403), Reason.ACCESS_DENIED),
        (answer("PermanentRedirect", 301), Reason.INVALID_MANIFEST),
        (answer("SlowDown", 503), Reason.STORE_UNAVAILABLE),
        (answer("InternalError", 500), Reason.STORE_UNAVAILABLE),
        (answer("502", 502), Reason.STORE_UNAVAILABLE),
        (answer("RequestTimeout"), Reason.STORE_UNAVAILABLE),
        (answer("408", 408), Reason.STORE_UNAVAILABLE),
        (answer("TooEarly", 425), Reason.STORE_UNAVAILABLE),
        (answer("OverQuota", 429), Reason.STORE_UNAVAILABLE),
        (answer("BadDigest"), Reason.STORE_UNAVAILABLE),
        (answer("IncompleteBody"), Reason.STORE_UNAVAILABLE),
        (answer("XAmzContentSHA256Mismatch"), Reason.STORE_UNAVAILABLE),
        (answer("NoSuchUpload", 404), Reason.STORE_UNAVAILABLE),
        (answer("OperationAborted", 409), Reason.STORE_UNAVAILABLE),
        (answer("TemporaryRedirect", 307), Reason.STORE_UNAVAILABLE),
        (answer("NotImplemented", 501), Reason.ACCESS_DENIED),
        (ResponseParserError("no XML"), Reason.STORE_UNAVAILABLE),
        (IncompleteAnswerError("the answer has no ETag"), Reason.STORE_UNAVAILABLE),
        (boto.NoCredentialsError(), Reason.ACCESS_DENIED),
        (boto.PartialCredentialsError(provider="env", cred_var="x"), Reason.ACCESS_DENIED),
        (boto.ProfileNotFound(profile="x"), Reason.ACCESS_DENIED),
        (boto.EndpointConnectionError(endpoint_url="x"), Reason.STORE_UNAVAILABLE),
        (boto.ConnectTimeoutError(endpoint_url="x"), Reason.STORE_UNAVAILABLE),
        (boto.ReadTimeoutError(endpoint_url="x"), Reason.STORE_UNAVAILABLE),
        (boto.SSLError(endpoint_url="x", error=OSError("bad")), Reason.STORE_UNAVAILABLE),
        (
            boto.IncompleteReadError(actual_bytes=1, expected_bytes=2),
            Reason.STORE_UNAVAILABLE,
        ),
        (boto.ResponseStreamingError(error="cut"), Reason.STORE_UNAVAILABLE),
        (boto.InvalidRegionError(region_name="x y"), Reason.INVALID_MANIFEST),
        (boto.ParamValidationError(report="bucket"), Reason.INVALID_MANIFEST),
        (ValueError("Invalid endpoint: x"), Reason.INVALID_MANIFEST),
    ],
    ids=str,
)
def test_reading(error: Exception, reason: Reason) -> None:
    failure = from_botocore(error, access())
    assert failure.reason is reason
    assert "s3://models/run/model.pt" in failure.message
    assert failure.hint


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (answer("AccessDenied", 403), Reason.DESTINATION_DENIED),
        (answer("NoSuchBucket", 404), Reason.DESTINATION_DENIED),
        (answer("NotImplemented", 400), Reason.DESTINATION_DENIED),
        (boto.NoCredentialsError(), Reason.DESTINATION_DENIED),
        (answer("SlowDown", 503), Reason.STORE_UNAVAILABLE),
    ],
    ids=str,
)
def test_writing(error: Exception, reason: Reason) -> None:
    assert from_botocore(error, access(Role.DESTINATION)).reason is reason


def test_an_error_inside_a_transfer_is_unwrapped() -> None:
    wrapped = S3UploadFailedError("Failed to upload")
    wrapped.__context__ = answer("AccessDenied", 403)
    failure = from_botocore(wrapped, access(Role.DESTINATION))
    assert failure.reason is Reason.DESTINATION_DENIED


def test_who_was_refused_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "training-keys" in from_botocore(answer("InvalidAccessKeyId"), access()).hint
    nameless = Access(Role.SOURCE, "s3://b/k", None, None)
    assert "AWS profile" in from_botocore(answer("AccessDenied"), nameless).hint
    monkeypatch.setenv(MANIFEST_ENV, "{}")
    assert "serviceAccountName" in from_botocore(answer("AccessDenied"), nameless).hint


def test_only_the_store_s_own_trouble_is_retried() -> None:
    assert is_retryable(from_botocore(answer("SlowDown", 503), access()).reason)
    assert not is_retryable(from_botocore(answer("AccessDenied", 403), access()).reason)
