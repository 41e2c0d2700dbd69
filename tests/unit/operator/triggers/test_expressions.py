"""Expressions in strings: their values and their errors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_operator.triggers.expressions import (
    MissingValueError,
    SyntaxProblemError,
    holds_expression,
    render,
    render_text,
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
    found = render(text, BODY)
    assert found == value
    assert type(found) is type(value)


def test_render_text() -> None:
    assert render_text("$(spec.env[1].value)", BODY) == "3"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$(metadata.label)", r"\$\(metadata.label\): the object has no such field"),
        ("a/$(spec.none)", "no such field"),
        ("$(spec.env[*].name)", "found 3 values, expected one"),
        ("a $(spec.odd)", "an object cannot be part of a text"),
        ("a $(spec.env)", "a list cannot be part of a text"),
        ("$(metadata.name | int)", 'cannot convert "train" to int'),
        ("$(metadata.name | bool)", 'cannot convert "train" to bool'),
        ("$(spec.env[2].value | int)", "cannot convert true to int"),
        ("$(spec.odd | float)", "to float"),
    ],
)
def test_missing_values_name_the_expression(text: str, words: str) -> None:
    with pytest.raises(MissingValueError, match=words):
        render(text, BODY)


def test_numbers_without_a_json_form_are_rejected() -> None:
    with pytest.raises(MissingValueError, match="to float"):
        render("$(metadata.name | float)", {"metadata": {"name": "nan"}})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$(", "expected a field name"),
        ("$()", "expected a field name"),
        ("$(metadata.name", "expected '\\)'"),
        ("x $(metadata.name other)", "expected '\\)'"),
        ("$(metadata..name)", "any depth"),
        ("$(metadata.name | integer)", "expected one of int, float, bool"),
        ("$(metadata.name |)", "expected one of"),
    ],
)
def test_syntax_errors(text: str, words: str) -> None:
    with pytest.raises(SyntaxProblemError, match=words):
        render(text, BODY)


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    message = "$("
    try:
        render(text, BODY)
    except (SyntaxProblemError, MissingValueError) as error:
        message = str(error)
    assert "$(" in message


@given(st.text(max_size=40))
def test_escaped_text_is_not_changed(text: str) -> None:
    escaped = text.replace("$", "").replace("(", "$$(")
    assert not holds_expression(escaped)
    assert render(escaped, BODY) == text.replace("$", "").replace("(", "$(")
