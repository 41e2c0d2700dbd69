"""Text of the model's code, as people see it."""

from __future__ import annotations

import pytest

from modelexport_exporter.core.errors import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("größer\n\tals 2", "größer\n\tals 2"),
        ("\x1b[2J\x07\r\x00", r"\x1b[2J\x07\r\x00"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202egnp.exe", r"a\u202egnp.exe"),
        ("\udcff", r"\udcff"),
    ],
)
def test_a_terminal_obeys_nothing_in_it(text: str, shown: str) -> None:
    assert printable(text) == shown
