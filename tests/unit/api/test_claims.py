"""pvc:// URIs: which are accepted, and what is written for the others."""

from __future__ import annotations

import re

import pytest

from modelexport_api.claims import split
from modelexport_api.types import URI_PATTERN
from modelexport_api.uri_forms import meant_uri, why_not


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("pvc://training/run-7/model.pt", ("training", "run-7/model.pt")),
        ("pvc://team.training-2/a b%2e/*.pt", ("team.training-2", "a b%2e/*.pt")),
        ("pvc://c/", ("c", "")),
        ("pvc://c/.hidden/..data/...", ("c", ".hidden/..data/...")),
        ("pvc://c/onnx/{stem}/", ("c", "onnx/{stem}/")),
    ],
)
def test_a_path_is_plain_text(uri: str, parts: tuple[str, str]) -> None:
    assert re.search(URI_PATTERN, uri)
    assert split(uri) == parts


@pytest.mark.parametrize(
    "uri",
    [
        *("pvc://c", "pvc://", "pvc:///a", "pvc://C/a", "pvc://-c/a", "pvc://c_d/a"),
        *("pvc://c/..", "pvc://c/../d", "pvc://c/a/../../d", "pvc://c/./a", "pvc://c/a/."),
        *("pvc://../a", "pvc://c*/a", "pvc://{stem}/a", "pvc://c/a\nb", "pvc://c/a\0b"),
        "pvc://" + "c" * 254 + "/a",
    ],
)
def test_what_could_leave_the_claim_is_not_a_uri(uri: str) -> None:
    assert re.search(URI_PATTERN, uri) is None
    with pytest.raises(ValueError, match=re.escape("is not pvc://claim/path")):
        split(uri)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("PVC://Training/model.pt", "pvc://training/model.pt"),
        ("pvc:training/model.pt", "pvc://training/model.pt"),
        ("pvc://c/../model.pt", None),
        ("pvc://c", None),
    ],
)
def test_another_form_is_corrected_where_it_is_clear(text: str, meant: str | None) -> None:
    assert meant_uri(text, relative=False) == meant
    assert "without . and .." in why_not(text)
