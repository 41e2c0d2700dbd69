from __future__ import annotations

import json

import pytest

from modelexport_exporter.core.bounded_json import BoundedJsonError, read_json


@pytest.mark.parametrize(
    "value", [None, 1, "a", [], {}, {"a": [1, {"b": None}]}, ["é,,,", "[[[["], [[]] * 24]
)
def test_ordinary_documents(value: object) -> None:
    assert read_json(json.dumps(value).encode(), values=50) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[" + b"[]," * 60 + b"[]]", "122 values; at most 100 are read"),
        (b"{" + b'"a":1,' * 60 + b'"b":1}', "122 values"),
        (b" " * 1001, "1,001 bytes; at most 1,000 are read"),
        (b"[" * 90 + b"]" * 89, "Expecting"),
        (b"", "Expecting value"),
        (b"\xff\xff", "decode"),
        (b'{"a": 1', "Expecting"),
    ],
)
def test_a_document_that_is_refused(text: bytes, words: str) -> None:
    with pytest.raises(BoundedJsonError, match=words):
        read_json(text, values=100, size=1000)


def test_deep_nesting() -> None:
    with pytest.raises(BoundedJsonError, match="nested too deeply"):
        read_json(b"[" * 200_000 + b"]" * 200_000)
