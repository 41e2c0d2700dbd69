"""Where the files of an artifact are below its destination, by layout. Pure.

A file has the same name in every layout while it is made; only its place among the published files
differs. Triton reads `config.pbtxt` and the directories whose names are numbers, and ignores what
else is in a model's directory, so reports and manifest stay where they are in both layouts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from modelexport_api.spec import Layout

MODEL_NAME = "model.onnx"
CONFIG_NAME = "config.pbtxt"
REPORT_NAME = "report.json"
PAGE_NAME = "report.html"
PROVENANCE_NAME = "provenance.json"
ENVELOPE_NAME = "provenance.intoto.jsonl"
"""One DSSE envelope on one line: the form of attestations that in-toto's tools exchange."""

VERSION_DIRECTORY = "1/"
"""The one version of a model in Triton's repository."""

CONTENT_DIRECTORY = ".modelexport/"
"""Where documents are under names of their content: out of a reader's sight."""

DATA_DIGITS = 12
"""Of the digest of external data, in its name."""
_DATA = rf"model\.[0-9a-f]{{{DATA_DIGITS}}}\.data"
_DATA_NAME = re.compile(rf"^({VERSION_DIRECTORY})?{_DATA}$")
_MODEL_FILE = re.compile(rf"^(model\.onnx|{_DATA})$")
_CONTENT_DIGITS = 32
_CONTENT_NAME = re.compile(
    rf"^(({VERSION_DIRECTORY})?model\.[0-9a-f]{{{_CONTENT_DIGITS}}}\.onnx"
    rf"|{re.escape(CONTENT_DIRECTORY)}[a-z.]+\.[0-9a-f]{{{_CONTENT_DIGITS}}}\.[a-z]+)$"
)
_DOCUMENTS = (REPORT_NAME, PAGE_NAME, PROVENANCE_NAME, ENVELOPE_NAME)


def published_name(layout: Layout, name: str) -> str:
    """Return the path of a file below the destination."""
    versioned = layout is Layout.TRITON and _MODEL_FILE.match(name)
    return f"{VERSION_DIRECTORY}{name}" if versioned else name


def is_data(name: str) -> bool:
    """Return whether a name is external data, which is named by its digest, in any layout."""
    return _DATA_NAME.match(name) is not None


def is_model_file(name: str) -> bool:
    """Return whether a worker may write a file of this name: the model or its external data."""
    return _MODEL_FILE.fullmatch(name) is not None


def content_name(name: str, sha256: str) -> str:
    """Return the path that a published file has for its content, and for no other.

    The model stays next to its external data, which it names relative to itself.
    """
    if is_data(name):
        return name
    stem, _, suffix = name.rpartition(".")
    own = f"{stem}.{sha256[:_CONTENT_DIGITS]}.{suffix}"
    return own if _MODEL_FILE.match(name.removeprefix(VERSION_DIRECTORY)) else _hidden(own)


def _hidden(name: str) -> str:
    return f"{CONTENT_DIRECTORY}{name}"


def is_content(name: str) -> bool:
    """Return whether a path names a content: nothing else is ever written there."""
    return is_data(name) or _CONTENT_NAME.match(name) is not None


def is_ours(name: str) -> bool:
    """Return whether an artifact of any layout may have this name below the destination."""
    if is_content(name):
        return True
    plain = name.removeprefix(VERSION_DIRECTORY)
    return plain == MODEL_NAME or name in {CONFIG_NAME, *_DOCUMENTS}


def promotion_order(names: Iterable[str]) -> list[str]:
    """Return names in the order in which they may appear: data, the model, its documents."""
    return sorted(names, key=lambda name: (_rank(name), name))


def _rank(name: str) -> int:
    if name.removeprefix(VERSION_DIRECTORY) == MODEL_NAME:
        return 1
    return 2 if name in _DOCUMENTS else 0


def model_name(uri: str) -> str:
    """Return the name under which Triton serves the model in this directory."""
    return uri.rstrip("/").rpartition("/")[2]
