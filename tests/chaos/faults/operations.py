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
    match method:
        case "HEAD":
            return Operation.HEAD
        case "GET" if "list-type" in query:
            return Operation.LIST
        case "GET" if "uploads" in query:
            return Operation.LIST_UPLOADS
        case "GET":
            return Operation.GET
        case "PUT" if "partNumber" in query:
            return Operation.UPLOAD_PART
        case "PUT" if "x-amz-copy-source" in headers:
            return Operation.COPY
        case "PUT" if {"if-match", "if-none-match"} & headers.keys():
            return Operation.PUT_IF
        case "PUT":
            return Operation.PUT
        case "POST" if "uploads" in query:
            return Operation.CREATE_UPLOAD
        case "POST" if "uploadId" in query:
            return Operation.COMPLETE_UPLOAD
        case "DELETE" if "uploadId" in query:
            return Operation.ABORT_UPLOAD
        case "DELETE":
            return Operation.DELETE
    return Operation.OTHER
