"""Which text was meant: URIs, names, expressions, digests."""

from __future__ import annotations

import re

import pytest

from modelexport_api.nearest import nearest
from modelexport_api.sizes import FORM
from modelexport_api.synonyms import synonym
from modelexport_api.text_forms import FORMS
from modelexport_api.uri_forms import meant_uri, why_not

CALLABLE = r"^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_.]*$"
NAME = r"^[A-Za-z_][A-Za-z0-9_.]*$"
DIGEST = r"^[0-9a-f]{64}$"
URL = r"^https?://[^/@]+(/.*)?$"


@pytest.mark.parametrize(
    ("text", "here", "in_cluster"),
    [
        ("model.pt", "file://./model.pt", "s3://bucket/model.pt"),
        ("./a b/model.pt", "file://./a%20b/model.pt", "s3://bucket/a b/model.pt"),
        ("../model.pt", "file://./../model.pt", None),
        ("/data/m.pt", "file:///data/m.pt", "file:///data/m.pt"),
        ("file:/data/m.pt", "file:///data/m.pt", "file:///data/m.pt"),
        ("file://localhost/data/m.pt", "file:///data/m.pt", "file:///data/m.pt"),
        ("file://m.pt", "file://./m.pt", None),
        ("file:m.pt", "file://./m.pt", None),
        ("S3://bucket/key", "s3://bucket/key", "s3://bucket/key"),
        ("s3a://bucket/key", "s3://bucket/key", "s3://bucket/key"),
        ("s3:/bucket/key", "s3://bucket/key", "s3://bucket/key"),
        ("s3://bucket", "s3://bucket/key", "s3://bucket/key"),
        ("s3:///key", None, None),
        (" s3://bucket/key ", "s3://bucket/key", "s3://bucket/key"),
        ("arn:aws:s3:::bucket/key", "s3://bucket/key", "s3://bucket/key"),
        ("https://b.s3.eu-west-1.amazonaws.com/k/m.pt", "s3://b/k/m.pt", "s3://b/k/m.pt"),
        ("https://s3.amazonaws.com/b/m.pt?x=1", "s3://b/m.pt", "s3://b/m.pt"),
        ("https://host/m.pt", None, None),
        ("gs://bucket/m.pt", None, None),
        ("C:\\models\\m.pt", None, None),
        ("~/m.pt", None, None),
        ("s3://a/b\nc", None, None),
        ("", None, None),
    ],
)
def test_meant_uri(text: str, here: str | None, in_cluster: str | None) -> None:
    assert meant_uri(text, relative=True) == here
    assert meant_uri(text, relative=False) == in_cluster


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gs://b/k", "storage.googleapis.com"),
        ("https://host/k", "download it"),
        ("hf://a/b", "copy it"),
        ("~/m.pt", "home"),
        ("s3://a/b\nc", "one line"),
        ("C:\\m.pt", ""),
    ],
)
def test_why_an_address_is_no_uri(text: str, words: str) -> None:
    assert words in why_not(text)


@pytest.mark.parametrize(
    ("pattern", "text", "meant"),
    [
        (CALLABLE, "model.build", "model:build"),
        (CALLABLE, "model.py:build", "model:build"),
        (CALLABLE, "src/model.py::build", "src.model:build"),
        (CALLABLE, "model:build()", "model:build"),
        (CALLABLE, "model.py", None),
        (CALLABLE, "model", None),
        (CALLABLE, "", None),
        (NAME, "input ids", "input_ids"),
        (NAME, "1st", "x_1st"),
        (NAME, "---", None),
        (FORM, "batch size", "batch_size"),
        (FORM, "64", 64),
        (FORM, "n*2", "2 * n"),
        (FORM, "1 + n", "n + 1"),
        (FORM, "n / 2", None),
        (FORM, "?", None),
        (DIGEST, "SHA256:" + "A" * 64, "a" * 64),
        (DIGEST, "abc", None),
        (URL, "s3.example.com:9000", "https://s3.example.com:9000"),
        (URL, "http://me:secret@s3.example.com/x", "http://s3.example.com/x"),
        (URL, "me@s3.example.com", "https://s3.example.com"),
        (URL, "ftp://s3.example.com", None),
    ],
)
def test_what_was_meant(pattern: str, text: str, meant: str | int | None) -> None:
    found = FORMS[pattern].meant(text)
    assert found == meant
    assert not isinstance(found, str) or re.search(pattern, found)


@pytest.mark.parametrize(
    ("name", "listed", "found"),
    [
        ("torch.long", ["float32", "int64"], "int64"),
        ("FP16", ["float32", "float16"], "float16"),
        ("CUDAExecutionProvider", ["CUDA", "CPU"], "CUDA"),
        ("gpu", ["CPU"], None),
        ("fp16", ["Native", "Float16"], "Float16"),
    ],
)
def test_synonyms(name: str, listed: list[str], found: str | None) -> None:
    assert synonym(name, listed) == found


def test_the_nearest_name_ignores_case_and_underscores() -> None:
    assert nearest("max_failed", ["maxFailed", "mode"]) == "maxFailed"
    assert nearest("zebra", ["maxFailed", "mode"]) is None
