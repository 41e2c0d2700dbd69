"""What a glob means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.batch.glob import Glob, names_store, of_uri

KEYS = [
    "run/a.pt",
    "run/b.pt",
    "run/.c.pt",
    "run/fold-1/model.pt",
    "run/fold-2/model.pt",
    "run/fold-2/deep/model.pt",
    "run/[x].pt",
    "model.pt",
]
DIRECTORIES = ["run/", "run/fold-1/", "run/fold-2/", "run/fold-2/deep/"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("run/*.pt", ["run/a.pt", "run/b.pt", "run/.c.pt", "run/[x].pt"]),
        ("run/?.pt", ["run/a.pt", "run/b.pt"]),
        ("run/[bz].pt", ["run/b.pt"]),
        ("run/[!b].pt", ["run/a.pt"]),
        ("run/[[]x].pt", ["run/[x].pt"]),
        ("run/*/model.pt", ["run/fold-1/model.pt", "run/fold-2/model.pt"]),
        ("run/fold-[2-9]/*", ["run/fold-2/model.pt"]),
        (
            "run/**/model.pt",
            ["run/fold-1/model.pt", "run/fold-2/model.pt", "run/fold-2/deep/model.pt"],
        ),
        ("**/model.pt", ["run/fold-1/model.pt", "run/fold-2/model.pt", *KEYS[5:6], "model.pt"]),
        ("**/fold-2/**/*.pt", ["run/fold-2/model.pt", "run/fold-2/deep/model.pt"]),
        ("run/fold-2/**", ["run/fold-2/model.pt", "run/fold-2/deep/model.pt"]),
        ("**", KEYS),
        ("*", ["model.pt"]),
        ("run**.pt", []),
        ("run/[", []),
        ("run/*/", ["run/fold-1/", "run/fold-2/"]),
        ("*/", ["run/"]),
        ("run/**/", ["run/fold-1/", "run/fold-2/", "run/fold-2/deep/"]),
        ("run/**/deep/", ["run/fold-2/deep/"]),
    ],
)
def test_what_a_pattern_matches(pattern: str, expected: list[str]) -> None:
    glob = Glob(pattern)
    assert [key for key in [*KEYS, *DIRECTORIES] if glob.matches(key)] == expected


@pytest.mark.parametrize(
    ("pattern", "prefix", "depth"),
    [
        ("run/fold-*.pt", "run/fold-", 0),
        ("run/*/model.pt", "run/", 1),
        ("run/fold-?/best/*.pt", "run/fold-", 2),
        ("run/**/model.pt", "run/", None),
        ("run/*/", "run/", None),
        ("[ab].pt", "", 0),
    ],
)
def test_only_what_can_match_is_listed(pattern: str, prefix: str, depth: int | None) -> None:
    assert Glob(pattern).prefix == prefix
    assert Glob(pattern).depth == depth


@pytest.mark.parametrize(
    ("uri", "store", "pattern"),
    [
        ("s3://bucket/run/*.pt", "s3://bucket/", "run/*.pt"),
        ("pvc://claim/run-*/a%20b.pt", "pvc://claim/", "run-*/a%20b.pt"),
        ("s3://bucket/a%20b/?.pt", "s3://bucket/", "a%20b/?.pt"),
        ("file:///data/a%20b/fold-?.pt", "file:///", "/data/a b/fold-?.pt"),
        ("file:///data/%5Bx%5d%2A%3f*.pt", "file:///", "/data/[[]x][*][?]*.pt"),
    ],
)
def test_a_uri_names_a_store_and_a_pattern(uri: str, store: str, pattern: str) -> None:
    assert of_uri(uri) == (store, Glob(pattern))


def test_a_bucket_is_no_pattern() -> None:
    assert names_store("s3://bucket/*")
    assert not names_store("s3://buck*/run/a.pt")


@given(st.lists(st.text(st.sampled_from("ab*?[]!."), max_size=4), min_size=1, max_size=4))
def test_a_name_in_brackets_stands_for_itself(names: list[str]) -> None:
    key = "/".join(name or "x" for name in names)
    escaped = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in key)
    assert Glob(escaped).matches(key)


def test_many_stars_take_no_time() -> None:
    assert not Glob("**/" * 30 + "x").matches("a/" * 300 + "y")
    assert not Glob("*a" * 30 + "b").matches("a" * 300)
