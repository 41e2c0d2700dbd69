"""What a request asks S3 for: the name of its operation, and whose key it is about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qs, unquote, urlsplit


class Operation(StrEnum):
    """The operations of S3 that the product uses, named as in Amazon's reference."""

    HEAD = "HeadObject"
    GET = "GetObject"
    LIST = "ListObjectsV2"
    LIST_UPLOADS = "ListMultipartUploads"
    PUT = "PutObject"
    PUT_IF = "PutObject with a condition"
    COPY = "CopyObject"
    CREATE_UPLOAD = "CreateMultipartUpload"
    UPLOAD_PART = "UploadPart"
    COMPLETE_UPLOAD = "CompleteMultipartUpload"
    ABORT_UPLOAD = "AbortMultipartUpload"
    DELETE = "DeleteObject"
    OTHER = "other"


@dataclass(frozen=True)
class Request:
    """A request that arrived at the proxy."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def key(self) -> str:
        """Return the path without the query; of a listing, the prefix."""
        split = urlsplit(self.path)
        prefix = parse_qs(split.query).get("prefix", [""])[0]
        return unquote(split.path) + (f"/{prefix}" if prefix else "")

    @property
    def operation(self) -> Operation:
        """Return the operation by method, query and headers."""
        query = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        return _operation(self.method, query, self.headers)


def _operation(method: str, query: dict[str, list[str]], headers: dict[str, str]) -> Operation:
    parts = {*headers, *(f"?{name}" for name in query)}
    fitting = (
        found
        for (verb, signs), found in _SIGNS.items()
        if verb == method and (not signs or parts.intersection(signs))
    )
    return next(fitting, Operation.OTHER)


_SIGNS: dict[tuple[str, tuple[str, ...]], Operation] = {
    ("HEAD", ()): Operation.HEAD,
    ("GET", ("?list-type",)): Operation.LIST,
    ("GET", ("?uploads",)): Operation.LIST_UPLOADS,
    ("GET", ()): Operation.GET,
    ("PUT", ("?partNumber",)): Operation.UPLOAD_PART,
    ("PUT", ("x-amz-copy-source",)): Operation.COPY,
    ("PUT", ("if-match", "if-none-match")): Operation.PUT_IF,
    ("PUT", ()): Operation.PUT,
    ("POST", ("?uploads",)): Operation.CREATE_UPLOAD,
    ("POST", ("?uploadId",)): Operation.COMPLETE_UPLOAD,
    ("DELETE", ("?uploadId",)): Operation.ABORT_UPLOAD,
    ("DELETE", ()): Operation.DELETE,
}
"""By method, and by headers or parameters (?) of which one has to be there; the first fits."""
