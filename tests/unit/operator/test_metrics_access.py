"""Who may read the metrics; the reviews themselves are tested with a real API server."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from modelexport_operator.metrics_access import (
    ALLOWED,
    FRESH_SECONDS,
    INVALID,
    REFUSED_SECONDS,
    STALE_SECONDS,
    Access,
    KnownTokens,
    access_of,
    access_review,
    bearer_token,
    reviewed_user,
)

USER = {"username": "system:serviceaccount:monitoring:prometheus", "groups": ["a"], "uid": "u"}


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (None, None),
        ("", None),
        ("Bearer", None),
        ("Bearer  ", None),
        ("Basic dTpw", None),
        ("Bearer abc", "abc"),
        ("bearer abc ", "abc"),
    ],
)
def test_the_token_of_a_header(header: str | None, token: str | None) -> None:
    assert bearer_token(header) == token


@pytest.mark.parametrize(
    "status",
    [None, {}, {"authenticated": False}, {"authenticated": True}, {"user": USER}],
    ids=str,
)
def test_a_token_without_a_user_is_not_valid(status: object) -> None:
    assert reviewed_user({"status": status}) is None


def test_the_question_has_all_that_is_known_of_the_user() -> None:
    user = reviewed_user({"status": {"authenticated": True, "user": USER}})
    assert user == USER
    assert access_review(user)["spec"] == {
        "user": USER["username"],
        "uid": "u",
        "groups": ["a"],
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
    }


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"allowed": True}, HTTPStatus.OK),
        ({"allowed": False}, HTTPStatus.FORBIDDEN),
        ({"denied": True, "allowed": False}, HTTPStatus.FORBIDDEN),
        (None, HTTPStatus.FORBIDDEN),
    ],
)
def test_only_a_clear_yes_allows(status: object, expected: HTTPStatus) -> None:
    assert access_of(USER, {"status": status}).status is expected


@pytest.mark.parametrize(
    ("access", "age", "found", "was_allowed"),
    [
        (ALLOWED, FRESH_SECONDS - 1, ALLOWED, True),
        (ALLOWED, FRESH_SECONDS, None, True),
        (ALLOWED, STALE_SECONDS, None, False),
        (INVALID, REFUSED_SECONDS - 1, INVALID, False),
        (INVALID, REFUSED_SECONDS, None, False),
    ],
    ids=[
        "fresh",
        "to be asked again",
        "too old for an outage",
        "refused",
        "refusal is asked again",
    ],
)
def test_how_long_an_answer_holds(
    access: Access, age: float, found: Access | None, was_allowed: bool
) -> None:
    now = 0.0
    known = KnownTokens(lambda: now)
    known.remember("token", access)
    now = age
    assert known.find("token") is found
    assert known.was_allowed("token") is was_allowed
    assert known.find("another") is None


def test_a_flood_of_tokens_fills_no_memory_and_tokens_are_not_kept() -> None:
    known = KnownTokens(lambda: 0.0)
    known.remember("first", ALLOWED)
    for number in range(2_000):
        known.remember(f"random-{number}", INVALID)
    assert len(known._known) == 1_024
    assert known.find("random-1999") is INVALID
    assert known.find("first") is None
    assert not any(b"random" in key for key in known._known)
