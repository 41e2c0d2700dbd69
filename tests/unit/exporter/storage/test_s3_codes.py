"""What an error or an answer of S3 says, also where something in between sent it."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError

from modelexport_exporter.storage.s3_codes import (
    IncompleteAnswerError,
    error_code,
    is_incomplete,
    required,
)
from modelexport_exporter.storage.s3_retries import is_repeated


def answer(
    status: int = 200,
    headers: dict[str, str] | None = None,
    **parts: Any,  # noqa: ANN401
) -> dict[str, Any]:
    about = {"HTTPStatusCode": status, "HTTPHeaders": headers or {}}
    return {"ResponseMetadata": about, **parts}


def test_an_error_of_a_connection_has_no_code() -> None:
    """Its response is None."""
    assert error_code(ConnectionClosedError(endpoint_url="http://s3")) == ""
    assert error_code(None) == ""


@pytest.mark.parametrize(
    ("operation", "given", "incomplete"),
    [
        ("GetObject", answer(ETag="e", ContentLength=0), False),
        ("GetObject", answer(ETag="e"), True),
        ("GetObject", answer(ETag="e", headers={"transfer-encoding": "Chunked"}), False),
        ("GetObject", answer(), True),
        ("GetObject", answer(206), True),
        ("GetObject", answer(404), False),
        ("GetObject", answer(Error={"Code": "InternalError"}), False),
        ("PutObject", answer(ETag='"0123"'), False),
        ("PutObject", answer(ETag='"01'), True),
        ("HeadObject", answer(ETag="e", ContentLength=1), True),
        ("ListObjectsV2", answer(), True),
        ("ListObjectsV2", answer(IsTruncated=False), False),
        ("CopyObject", answer(), True),
        ("DeleteObject", answer(204), False),
    ],
)
def test_answers_that_lack_what_every_one_has(
    operation: str, given: dict[str, Any], incomplete: bool
) -> None:
    assert is_incomplete(operation, given) is incomplete
    assert is_repeated(operation, given) is incomplete


@pytest.mark.parametrize("code", ["OperationAborted", "TemporaryRedirect", "BadDigest"])
def test_what_the_next_try_mends(code: str) -> None:
    assert is_repeated("PutObject", answer(409, Error={"Code": code}))


def test_what_is_missing_is_named() -> None:
    assert required({"ETag": "e"}, "ETag") == "e"
    with pytest.raises(IncompleteAnswerError, match="no ETag"):
        required({}, "ETag")
