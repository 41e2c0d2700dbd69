"""JSONPath in kubectl's syntax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_operator.triggers.jsonpath import PathError, parse

BODY = {
    "metadata": {"name": "train", "labels": {"app.kubernetes.io/name": "digits", "x": "1"}},
    "spec": {
        "env": [
            {"name": "OUT", "value": "s3://b/"},
            {"name": "N", "value": 3},
            {"name": "ON", "value": True},
        ],
        "none": None,
        "odd": {"a b": 1, "it's": 2},
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("metadata.name", ["train"]),
        (".metadata.name", ["train"]),
        ("$.metadata.name", ["train"]),
        ("{.metadata.name}", ["train"]),
        ("metadata.labels['app.kubernetes.io/name']", ["digits"]),
        ('metadata.labels["app.kubernetes.io/name"]', ["digits"]),
        (r"metadata.labels.app\.kubernetes\.io/name", ["digits"]),
        ("['metadata']['name']", ["train"]),
        ("spec.odd['a b']", [1]),
        ('spec.odd["it\'s"]', [2]),
        ("spec.env[0].value", ["s3://b/"]),
        ("spec.env[-1].value", [True]),
        ("spec.env[3].value", []),
        ("spec.env[*].name", ["OUT", "N", "ON"]),
        ("metadata.labels.*", ["digits", "1"]),
        ('spec.env[?(@.name=="OUT")].value', ["s3://b/"]),
        ("spec.env[?(@.name != 'OUT')].value", [3, True]),
        ("spec.env[?(@.value==3)].name", ["N"]),
        ("spec.env[?(@.value==true)].name", ["ON"]),
        ("spec.env[?(@.value==1)].name", []),
        ("spec.env[?(@.secret)].name", []),
        ("spec.env[?(@.value)].name", ["OUT", "N", "ON"]),
        ("spec.none", [None]),
        ("spec.none.more", []),
        ("metadata.name.more", []),
        ("metadata.name[0]", []),
        ("nothing", []),
    ],
)
def test_find_values(path: str, found: list[object]) -> None:
    assert parse(path).find(BODY) == found


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "expected a field name"),
        (".", "expected a field name"),
        ("metadata.", "expected a field name"),
        ("metadata..name", "any depth"),
        ("metadata[name]", "expected a number, a quoted name"),
        ("metadata['name]", "has no closing"),
        ("metadata['name'", "expected ']'"),
        ("spec.env[?(@.name=='x'].value", "expected '\\)'"),
        ("spec.env[?(name=='x')]", "expected '@'"),
        ("spec.env[?(@.name==x)]", "expected a quoted string"),
        ("spec.env[1.5]", "expected a number"),
        ("metadata name", "unexpected ' name'"),
        ("metadata.name)", "unexpected"),
    ],
)
def test_invalid_paths(path: str, words: str) -> None:
    with pytest.raises(PathError, match=words):
        parse(path)


@given(st.text(max_size=30))
def test_any_text_is_a_path_or_a_path_error(text: str) -> None:
    found: list[object] | str
    try:
        found = parse(text).find(BODY)
    except PathError as error:
        found = str(error)
    assert isinstance(found, list) or "character" in found or "unexpected" in found


@given(st.text(alphabet=st.characters(exclude_characters="'"), max_size=20))
def test_any_name_can_be_quoted(name: str) -> None:
    assert parse(f"a['{name}']").find({"a": {name: 7}}) == [7]
