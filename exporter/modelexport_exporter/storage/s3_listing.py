"""The keys of a bucket, listed page by page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage.s3_codes import required

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

Page = Mapping[str, Any]

_PAGE = 1000
"""Names in an answer of S3, at most."""


def objects(client: S3Client, bucket: str, prefix: str, depth: int | None) -> list[StoredObject]:
    """Return every object whose key starts with the prefix, in order of the keys.

    `depth`: the most slashes after the prefix; None for any number. Raises what boto3 raises, and
    IncompleteAnswerError.
    """
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    found = (
        StoredObject(item["Key"], item["Size"], required(item, "ETag"))
        for page in map(_checked, pages)
        for item in page.get("Contents", [])
        if not item["Key"].endswith("/")
        and (depth is None or item["Key"].count("/", len(prefix)) <= depth)
    )
    # A server that sends a page twice has no key twice.
    return list({entry.key: entry for entry in found}.values())


def names(client: S3Client, bucket: str, prefix: str, limit: int | None) -> list[str]:
    """Return the first names directly below a directory; directories end in a slash.

    Raises what boto3 raises, and IncompleteAnswerError.
    """
    pages = client.get_paginator("list_objects_v2").paginate(
        Bucket=bucket,
        Prefix=prefix,
        Delimiter="/",
        PaginationConfig={"PageSize": min(limit or _PAGE, _PAGE)},
    )
    keys = (key for page in map(_checked, pages) for key in _keys_of(page) if key != prefix)
    return [key.removeprefix(prefix) for key in islice(_unique(keys), limit)]


def _checked(page: Page) -> Page:
    """Return a page of a listing. Raises IncompleteAnswerError for what is none."""
    required(page, "IsTruncated")
    return page


def _unique(keys: Iterable[str]) -> Iterator[str]:
    """Yield keys once, in order, as they come."""
    seen = set[str]()
    for key in keys:
        if key not in seen:
            seen.add(key)
            yield key


def _keys_of(page: Page) -> Iterator[str]:
    """Yield the objects and directories of a listing's page, in order."""
    keys = [item["Key"] for item in page.get("Contents", [])]
    keys += [item["Prefix"] for item in page.get("CommonPrefixes", [])]
    yield from sorted(keys)
