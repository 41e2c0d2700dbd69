"""Texts of users in messages: limited, and without characters that a terminal obeys. Pure."""

from __future__ import annotations

SHOWN = 80
"""Characters of a value, a key or a name in a message."""
_LONGEST_LINE = 1000
_MOST_LINES = 50


def printable(text: str) -> str:
    r"""Return a text in which all that is not shown is written as an escape: `\x1b`."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def excerpt(value: object) -> str:
    """Return the beginning of a value as text."""
    text = str(value)
    return printable(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")


def message(text: str) -> str:
    """Return a message of several lines as any terminal and status can hold it."""
    lines = [_line(one) for one in text.split("\n")]
    if len(lines) <= _MOST_LINES:
        return "\n".join(lines)
    return "\n".join([*lines[:_MOST_LINES], f"… and {len(lines) - _MOST_LINES} lines more"])


def _line(text: str) -> str:
    return printable(text if len(text) <= _LONGEST_LINE else f"{text[: _LONGEST_LINE - 1]}…")


def _escaped(one: str) -> str:
    return one.encode("unicode_escape", "surrogatepass").decode("ascii")
