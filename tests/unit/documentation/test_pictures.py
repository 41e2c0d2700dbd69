"""The pictures are small, and request nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documentation.pictures import shortened
from documentation.terminal import shown

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_a_picture_is_small_and_complete(path: Path) -> None:
    assert path.stat().st_size < 200_000
    if path.suffix == ".svg":
        urls = set(re.findall(r"https?://[^\"') ]+", re.sub(r"<!--.*?-->", "", path.read_text())))
        assert urls <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("one\ntwo\n", "one\ntwo"),
        ("one\r\ntwo\r\n", "one\ntwo"),
        ("50 %\r\x1b[2K100 %\n", "100 %"),
        ("a\nb\r\x1b[2K\x1b[1A\x1b[2Kc\nd\n", "c\nd"),
        ("\x1b[?25l\x1b[1;32mok\x1b[0m\x1b[?25h", "\x1b[1;32mok\x1b[0m"),
    ],
)
def test_what_a_terminal_shows(output: str, expected: str) -> None:
    assert shown(output) == expected


def test_a_shorter_path_keeps_the_columns() -> None:
    text = "Fetch  /tmp/abc/x.pt    0.1 s\nTo     /tmp/abc/out"
    assert shortened(text, "/tmp/abc") == "Fetch  x.pt             0.1 s\nTo     out"
