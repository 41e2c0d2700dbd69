"""Reads a manifest from a file.

Unlike in a cluster, `file://./path` is allowed: it is relative to the manifest's directory.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import posixpath
import sys
from pathlib import Path
from urllib.parse import quote

from modelexport_api.nearest import nearest
from modelexport_api.resource import ManifestError, ModelExport, one_document, parse
from modelexport_api.yaml_text import letters_read_as_booleans

_RELATIVE = "file://./"
_URIS = {"uri", "goldenInputs", "calibrationInputs"}
"""Fields with one URI."""
_LISTS = {"uris", "runtimeLibraries"}
"""Fields with several URIs."""
_MOST_BYTES = 3 << 20
"""The API server's limit for a request."""
_SUFFIXES = {".yaml", ".yml", ".json"}


def read_manifest(path: Path) -> ModelExport:
    """Return the ModelExport in a file. Raises ManifestError."""
    text = read_text(path)
    export = export_in(one_document(text, str(path)), path)
    letters = letters_read_as_booleans(text)
    if letters:
        line, letter = letters[0]
        print(
            f'note: {path}, line {line}: kubectl reads {letter} as a boolean; write "{letter}"',
            file=sys.stderr,
        )
    return export


def read_text(path: Path) -> str:
    """Return the text in a file; `-` is standard input. Raises ManifestError."""
    try:
        data = _read_bytes(path)
        return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8").read()
    except OSError as error:
        advice = _instead_of(path)
        raise ManifestError(f"{path} cannot be read: {error.strerror}{advice}") from None
    except UnicodeDecodeError:
        raise ManifestError(
            f"{path} is not UTF-8 text: expected the YAML of a ModelExport, which names a "
            f"checkpoint in spec.source.uri; without a manifest: modelexport export {path}"
        ) from None


def _read_bytes(path: Path) -> bytes:
    """Return at most what a manifest may have. Raises ManifestError for more text, OSError."""
    with contextlib.ExitStack() as held:
        source = sys.stdin.buffer if path == Path("-") else held.enter_context(path.open("rb"))
        data = source.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        # A checkpoint that was named by mistake is no text: its first bytes say so.
        codecs.getincrementaldecoder("utf-8")().decode(data[:4096])
        raise ManifestError(
            f"{path} has more than {_MOST_BYTES:,} bytes, which no API server takes: expected the "
            "YAML of a ModelExport"
        )
    return data


def _instead_of(path: Path) -> str:
    """Return which manifest to name instead of a directory or a file that does not exist."""
    directory = path if path.is_dir() else path.parent
    if not directory.is_dir():
        return f"; there is no directory {directory}"
    names = sorted(entry.name for entry in directory.glob("*") if entry.suffix in _SUFFIXES)
    if path.is_dir():
        names = [name for name in names if "export" in name] or names
        return f"; name a file in it: {path / names[0]}" if names else "; it holds no manifest"
    near = nearest(path.name, names)
    return f"; did you mean {directory / near}?" if near else ""


def export_in(document: object, path: Path) -> ModelExport:
    """Return the ModelExport in a document that was read from a file. Raises ManifestError."""
    try:
        return parse(resolve(document, path.resolve().parent), relative_uris=True)
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
    if key in _LISTS and isinstance(item, list):
        return [_resolved("uri", entry, directory) for entry in item]
    return resolve(item, directory)


def absolute(uri: str, directory: Path) -> str:
    """Return a URI with `file://./` replaced by the directory."""
    if not uri.startswith(_RELATIVE):
        return uri
    # `..` is resolved in the text, as in any URI; symbolic links are not followed.
    path = posixpath.normpath(f"{quote(str(directory))}/{uri.removeprefix(_RELATIVE)}")
    return f"file://{path}{'/' if uri.endswith('/') else ''}"
