"""Reads a manifest from a file.

Unlike in a cluster, `file://./path` is allowed: it is relative to the manifest's directory.
"""

from __future__ import annotations

import posixpath
import sys
from pathlib import Path
from urllib.parse import quote

from modelexport_api.resource import ManifestError, ModelExport, one_document, parse

_RELATIVE = "file://./"
_URIS = {"uri", "goldenInputs", "calibrationInputs"}
"""Fields with one URI."""
_LIST = "uris"
"""The field with several URIs."""


def read_manifest(path: Path) -> ModelExport:
    """Return the ModelExport in a file. Raises ManifestError."""
    return export_in(one_document(read_text(path), str(path)), path)


def read_text(path: Path) -> str:
    """Return the text in a file; `-` is standard input. Raises ManifestError."""
    try:
        return sys.stdin.read() if path == Path("-") else path.read_text(encoding="utf-8")
    except OSError as error:
        raise ManifestError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{path} is not UTF-8 text") from None


def export_in(document: object, path: Path) -> ModelExport:
    """Return the ModelExport in a document that was read from a file. Raises ManifestError."""
    try:
        return parse(resolve(document, path.resolve().parent))
    except RecursionError:  # a YAML alias can refer to itself
        raise ManifestError(f"{path} is nested too deeply") from None


def resolve(value: object, directory: Path) -> object:
    """Return a YAML value with every `file://./…` made absolute."""
    if isinstance(value, dict):
        return {key: _resolved(key, item, directory) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item, directory) for item in value]
    return value


def _resolved(key: object, item: object, directory: Path) -> object:
    if key in _URIS and isinstance(item, str):
        return absolute(item, directory)
    if key == _LIST and isinstance(item, list):
        return [_resolved("uri", entry, directory) for entry in item]
    return resolve(item, directory)


def absolute(uri: str, directory: Path) -> str:
    """Return a URI with `file://./` replaced by the directory."""
    if not uri.startswith(_RELATIVE):
        return uri
    # `..` is resolved in the text, as in any URI; symbolic links are not followed.
    path = posixpath.normpath(f"{quote(str(directory))}/{uri.removeprefix(_RELATIVE)}")
    return f"file://{path}{'/' if uri.endswith('/') else ''}"
