"""The code blocks of pages: pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONTINUED = re.compile(r"\s*\\\n\s*")
_SEPARATOR = re.compile(r"\s(?:\|\|?|&&|;)\s")
_COMMAND = re.compile(r"\s*(?:\.venv/bin/)?modelexport (.+)")


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    language: str
    text: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a page."""
    for found in _BLOCK.finditer(page):
        yield Block(found[1], found[2], page.count("\n", 0, found.start()) + 1)


def commands(block: Block) -> list[str]:
    """Return the lines that a block enters into a shell; what a console prints is left out."""
    if block.language not in {"sh", "console"}:
        return []
    lines = _CONTINUED.sub(" ", block.text).splitlines()
    if block.language == "console":
        return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def own_arguments(line: str) -> list[list[str]]:
    """Return the arguments of each call of `modelexport` in a line."""
    calls = []
    for part in _SEPARATOR.split(line):
        if found := _COMMAND.match(part):
            words = shlex.split(found[1], comments=True)
            calls.append(words[: words.index(">")] if ">" in words else words)
    return calls
