"""Whatever a manifest contains, its message is short and shows as it is in any terminal."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.documents import ManifestError
from modelexport_api.printable import excerpt, message, printable
from modelexport_api.resource import parse
from unit.api.manifests import VALID, changed

HOSTILE = "\x1b[2J\u202e\x85\x00"
LONG = "x" * 300_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é 中", "plain é 中"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb", "a\\nb"),
        ("\u202e", "\\u202e"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_is_not_shown_is_written_as_an_escape(text: str, expected: str) -> None:
    assert printable(text) == expected


def test_a_value_is_shortened_to_its_beginning() -> None:
    assert excerpt("a" * 80) == "a" * 80
    assert excerpt("a" * 81) == "a" * 79 + "…"


def test_lines_are_counted_and_limited() -> None:
    found = message("\n".join([LONG, *"x" * 60])).split("\n")
    assert len(found[0]) == 1000
    assert len(found) == 51
    assert found[-1] == "… and 11 lines more"


@pytest.mark.parametrize(
    "manifest",
    [
        {**VALID, "kind": HOSTILE},
        {**VALID, "apiVersion": LONG},
        {**VALID, HOSTILE: 1},
        {**VALID, "metadata": {"name": HOSTILE}},
        {**VALID, "metadata": {"name": "a", "labels": {"a": LONG}}},
        {**VALID, "metadata": {"name": "a", "annotations": {HOSTILE: HOSTILE}}},
        {**VALID, "metadata": {"name": "a", "annotations": {"\ud800": "x"}}},
        {**VALID, "metadata": {"name": "a", "generateName": "\ud800"}},
        changed(dims={"batch": {"max": HOSTILE}}),
        changed(inputs=[{"name": HOSTILE}]),
        changed(model={"factory": LONG}),
        changed(**{LONG: LONG}),
        changed(**{f"x{number}": number for number in range(5000)}),
        changed(inputs=[{"name": "x", LONG: 1}] * 64),
    ],
    ids=lambda manifest: str(manifest)[:30],
)
def test_messages_of_manifests(manifest: dict[str, Any]) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(manifest)
    lines = str(caught.value).split("\n")
    assert len(lines) <= 51
    assert all(line.isprintable() and 0 < len(line) <= 1000 for line in lines)
