"""YAML means what it means to kubectl: measured with kubectl 1.36."""

from __future__ import annotations

import pytest
import yaml

from modelexport_api.documents import ManifestError, one_document
from modelexport_api.yaml_text import dump, inline, letters_read_as_booleans, load_all


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("1e-5", 1e-5),
        ("1E+5", 1e5),
        ("12e03", 12e3),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1:30", "1:30"),
        ("190:20:30.15", "190:20:30.15"),
        ("010", 8),
        ("0o10", 8),
        ("0x10", 16),
        ("0b11", 3),
        ("1_000", 1000),
        ("0", 0),
        ("-0", 0),
        ("+1", 1),
        ("yes", True),
        ("Off", False),
        ("~", None),
        ("'1e-5'", "1e-5"),
        ("y", "y"),
    ],
)
def test_scalars(text: str, value: object) -> None:
    assert load_all(f"a: {text}") == [{"a": value}]


@pytest.mark.parametrize(
    "text",
    ["a: 1\na: 2", "x: {a: 1, a: 2}", "x: [{b: {a: 1, 'a': 2}}]"],
    ids=["block", "flow", "deep"],
)
def test_a_key_that_occurs_twice_is_an_error(text: str) -> None:
    with pytest.raises(ManifestError, match="the key a occurs twice: also on line 1"):
        one_document(text)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("!!map [a]", "expected a mapping node, but found sequence"),
        ("!!map a", "a mapping node"),
        ("!!seq {a: 1}", "expected a sequence node, but found mapping"),
        ("!!int x", "x cannot be read as int"),
        ("!!float x", "x cannot be read as float"),
        ("!!bool x", "x cannot be read as bool"),
        ("!!timestamp x", "x cannot be read as timestamp"),
        ("9" * 5000, "cannot be read as int"),
    ],
)
def test_a_tag_that_does_not_fit_is_an_error_of_a_line(value: str, words: str) -> None:
    with pytest.raises(ManifestError, match=words) as caught:
        one_document(f"a: 1\nb: {value}\n")
    assert "line 2" in str(caught.value)


def test_an_unknown_directive_is_an_error_as_for_kubectl() -> None:
    assert one_document("%YAML 1.1\n---\na: 1") == {"a": 1}
    with pytest.raises(ManifestError, match="found the unknown directive %FOO"):
        one_document("%FOO\n---\na: 1")


def test_a_merged_key_may_be_replaced() -> None:
    assert load_all("a: &x {k: 1}\nb: {<<: *x, k: 2}") == [{"a": {"k": 1}, "b": {"k": 2}}]


@pytest.mark.parametrize("value", ["y", "n", "yes", "1e5", "2026-01-01", "1", "a: b", ""])
def test_text_stays_text(value: str) -> None:
    assert load_all(dump({"k": value, value: [value]})) == [{"k": value, value: [value]}]
    assert yaml.safe_load(inline({value: value})) == {value: value}


def test_letters_that_kubectl_reads_as_booleans_are_quoted() -> None:
    assert inline({"n": "y"}) == "{'n': 'y'}"


def test_letters_in_a_manifest_are_found_with_their_line() -> None:
    assert letters_read_as_booleans("a: 1\noutputs: [y, 'n', any, n]") == [(2, "y"), (2, "n")]
    assert letters_read_as_booleans("outputs: ['y']\nname: my-n") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a:\n\tb: 1", "line 2, column 1: found a tab; expected spaces"),
        ("a: {b: 1\nc: 2", "close the { of line 1"),
        ("a: [\n", "the text ends too early; close each bracket and each quote"),
        ("a: {\n\n", "the text ends too early"),
        ("a: b: c", "in quotes"),
        ('{"a": 1,}}', "JSON, nor YAML"),
        ("", "is empty: expected one ModelExport"),
        ("kind: A\n---\nkind: B\nmetadata: {name: x}", "found 2 documents: A, B x; write each"),
    ],
)
def test_what_is_no_document_is_explained(text: str, words: str) -> None:
    with pytest.raises(ManifestError) as caught:
        one_document(text, "m.yaml")
    assert words in str(caught.value)
    assert "m.yaml" in str(caught.value)


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_ordinary_aliases() -> None:
    assert load_all("a: &a [1]\nb: *a\nc: {<<: {d: *a}}") == [{"a": [1], "b": [1], "c": {"d": [1]}}]
    assert load_all(bomb(4))


@pytest.mark.parametrize(
    "text", [bomb(9), "a: &a [*a]", "&a {b: *a}"], ids=["doubling", "in a list", "in a mapping"]
)
def test_aliases_that_multiply(text: str) -> None:
    """The command never ended; kubectl refuses such a document, too."""
    with pytest.raises(ManifestError, match="its aliases stand for more than 1,000,000 values"):
        one_document(text)
