"""Expressions in strings: what they become, and how they fail."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_operator.triggers.expressions import (
    MissingValueError,
    SyntaxProblemError,
    holds_expression,
    rendered,
    rendered_text,
)
from unit.operator.triggers.test_jsonpath import BODY


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", ""),
        ("plain", "plain"),
        ("costs $5 (five)", "costs $5 (five)"),
        ("$(metadata.name)", "train"),
        ("$( metadata.name )", "train"),
        ("s3://b/$(metadata.name)/$(metadata.labels.x).pt", "s3://b/train/1.pt"),
        ("$(metadata.name)$(metadata.name)", "traintrain"),
        ('$(spec.env[?(@.name=="OUT")].value)model.pt', "s3://b/model.pt"),
        ("$(spec.env[1].value)", 3),
        ("n=$(spec.env[1].value)", "n=3"),
        ("on=$(spec.env[2].value)", "on=true"),
        ("$(spec.odd)", {"a b": 1, "it's": 2}),
        ("$(metadata.labels.x | int)", 1),
        ("$(metadata.labels.x|float)", 1.0),
        ("$(spec.env[2].value | bool)", True),
        ("$$(metadata.name)", "$(metadata.name)"),
        ("$$(a) $(metadata.name)", "$(a) train"),
    ],
)
def test_values(text: str, value: object) -> None:
    found = rendered(text, BODY)
    assert found == value
    assert type(found) is type(value)


def test_text_where_text_is_needed() -> None:
    assert rendered_text("$(spec.env[1].value)", BODY) == "3"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$(metadata.label)", r"\$\(metadata.label\): the object has no value there"),
        ("a/$(spec.none)", "no value there"),
        ("$(spec.env[*].name)", "found 3 values, expected one"),
        ("a $(spec.odd)", "an object cannot be put into a text"),
        ("a $(spec.env)", "a list cannot be put into a text"),
        ("$(metadata.name | int)", '"train" is no int'),
        ("$(metadata.name | bool)", '"train" is no bool'),
        ("$(spec.env[2].value | int)", "true is no int"),
        ("$(spec.odd | float)", "is no float"),
    ],
)
def test_missing_values_name_the_expression(text: str, words: str) -> None:
    with pytest.raises(MissingValueError, match=words):
        rendered(text, BODY)


def test_numbers_that_json_cannot_hold_are_none() -> None:
    with pytest.raises(MissingValueError, match="is no float"):
        rendered("$(metadata.name | float)", {"metadata": {"name": "nan"}})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$(", "expected the name of a field"),
        ("$()", "expected the name of a field"),
        ("$(metadata.name", "expected '\\)'"),
        ("x $(metadata.name other)", "expected '\\)'"),
        ("$(metadata..name)", "any depth"),
        ("$(metadata.name | integer)", "expected one of int, float, bool"),
        ("$(metadata.name |)", "expected one of"),
    ],
)
def test_what_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(SyntaxProblemError, match=words):
        rendered(text, BODY)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    told = "$("
    try:
        rendered(text, BODY)
    except (SyntaxProblemError, MissingValueError) as error:
        told = str(error)
    assert "$(" in told


@given(st.text(max_size=40))
def test_escaped_text_stays_as_it_is(text: str) -> None:
    escaped = text.replace("$", "").replace("(", "$$(")
    assert not holds_expression(escaped)
    assert rendered(escaped, BODY) == text.replace("$", "").replace("(", "$(")
