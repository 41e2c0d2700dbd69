"""What an object is, and why it may not be asked for.

A HEAD has no body, so its 400 and 403 do not say whether the token expired, the clock is wrong or a
permission is missing. A GET of the first byte does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modelexport_exporter.storage.s3_codes import WITHOUT_BODY, error_code

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

_NO_SUCH_RANGE = {"416", "InvalidRange"}


def head_object(client: S3Client, **request: Any) -> Mapping[str, Any]:  # noqa: ANN401
    """Return the answer to HeadObject. Raises what boto3 raises, with the code of a GET."""
    try:
        return client.head_object(**request)
    except Exception as error:
        if error_code(error) not in WITHOUT_BODY or "PartNumber" in request:
            raise
        return _first_byte(client, request, error)


def _first_byte(client: S3Client, request: dict[str, Any], refusal: Exception) -> Mapping[str, Any]:
    try:
        answer = client.get_object(**request, Range="bytes=0-0")
    except Exception as error:
        if error_code(error) not in _NO_SUCH_RANGE:
            raise
        # An empty object has no first byte: then the refusal is all that is known.
        raise refusal from error
    answer["Body"].close()
    size = int(answer["ContentRange"].rpartition("/")[2])
    return {**answer, "ContentLength": size}
