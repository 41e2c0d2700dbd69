"""The forms of URI that work, and the URI that a path or another address was meant as: pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import quote

from modelexport_api.types import CLAIM_PATTERN

RELATIVE = "file://./"
"""Begins a URI that is relative to the manifest; the command line understands it."""
_VALID = re.compile(rf"s3://[^/]+/.*|{CLAIM_PATTERN}|file:///.*")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)")
_HOST_OF_AWS = re.compile(r"(?:(?P<bucket>.+)\.)?s3[.-][a-z0-9.-]*amazonaws\.com")


_DOWNLOAD = "download it first, or name the bucket of the server in storage.endpoint"
_GOOGLE = (
    "Google Cloud Storage is read as s3:// with storage: {endpoint: https://storage.googleapis.com}"
)
_KNOWN = {
    "gs": _GOOGLE,
    "gcs": _GOOGLE,
    "http": _DOWNLOAD,
    "https": _DOWNLOAD,
    "pvc": "write pvc://, the name of a PersistentVolumeClaim in lower case, and a path from the "
    "root of its volume without . and .. (pvc://training/run-7/model.pt)",
}


def forms(*, relative: bool) -> str:
    """Return the forms that work, for a sentence."""
    if relative:
        return f"s3://bucket/key, file:///absolute/path or {RELATIVE}relative/to/the/manifest"
    return "s3://bucket/key, pvc://claim/path or file:///absolute/path"


def meant_uri(text: str, *, relative: bool) -> str | None:
    """Return the URI to write instead of a text; None if it cannot be known."""
    text = text.strip()
    if not text.isprintable() or "\\" in text or re.match(r"[A-Za-z]:", text):
        return None
    if _VALID.fullmatch(text):
        return text
    found = _SCHEME.fullmatch(text)
    if found is None:
        return _of_path(text, relative=relative)
    read = _SCHEMES.get(found[1].lower())
    return read(found[2], relative) if read is not None else None


def why_not(text: str) -> str:
    """Return what to know about an address that is no URI of these forms."""
    scheme = text.strip().partition(":")[0].lower()
    if not text.strip().isprintable():
        return "write it on one line"
    if scheme in _KNOWN:
        return _KNOWN[scheme]
    if text.startswith("~"):
        return "write the path of the home directory itself: file:///home/…"
    if scheme in {"hf", "az", "abfs", "abfss", "wasbs", "dbfs", "hdfs"}:
        return "copy it to S3 or to this machine first"
    return ""


def _of_path(text: str, *, relative: bool) -> str | None:
    if text.startswith("/"):
        return f"file://{quote(text)}"
    if not text or text.startswith("~"):
        return None
    bare = re.sub(r"^(\./)+", "", text)
    if relative:
        return f"{RELATIVE}{quote(bare)}"
    return None if bare.startswith("..") else f"s3://bucket/{bare}"


def _of_file(rest: str, relative: object) -> str | None:
    """Return what `file:/a`, `file:a`, `file://a` and `file://localhost/a` name."""
    path = rest.removeprefix("//localhost/")
    if path != rest:
        return f"file:///{path}"
    slashes = len(rest) - len(rest.lstrip("/"))
    if slashes == 1:
        return f"file://{rest}"
    if not relative:
        return None
    return RELATIVE + re.sub(r"^(\./)+", "", rest.lstrip("/"))


def _of_bucket(rest: str, _: object = None) -> str | None:
    bucket, _, key = rest.lstrip("/").partition("/")
    if not bucket or rest.startswith("///"):
        return None
    return f"s3://{bucket}/{key or 'key'}"


def _of_claim(rest: str, _: object) -> str | None:
    """Return what `pvc:claim/path` and `PVC:///claim//path` name; None for . and .. in a path."""
    claim, _slash, path = rest.lstrip("/").partition("/")
    uri = f"pvc://{claim.lower()}/{path}"
    return uri if path and _VALID.fullmatch(uri) else None


def _of_web(rest: str, _: object) -> str | None:
    """Return the object that a URL of AWS S3 names."""
    host, _, path = rest.removeprefix("//").partition("?")[0].partition("/")
    found = _HOST_OF_AWS.fullmatch(host)
    if found is None:
        return None
    return _of_bucket(f"{found['bucket']}/{path}" if found["bucket"] else path)


def _of_resource(rest: str, _: object) -> str | None:
    """Return the object that `arn:aws:s3:::bucket/key` names."""
    kind, _, found = rest.rpartition(":::")
    return _of_bucket(found) if kind == "aws:s3" else None


_SCHEMES: Mapping[str, Callable[[str, object], str | None]] = {
    "file": _of_file,
    **dict.fromkeys(("s3", "s3a", "s3n"), _of_bucket),
    "pvc": _of_claim,
    **dict.fromkeys(("http", "https"), _of_web),
    "arn": _of_resource,
}
