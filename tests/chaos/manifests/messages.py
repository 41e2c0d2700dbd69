"""What a message may hold: what any terminal and any status can, in the product's words."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST_LINE = 1000
MOST_LINES = 51
_OF_OTHERS = re.compile(
    r"Input should be|String should|Extra inputs|Field required|pydantic|Traceback|object at 0x"
)


def problems_of_condition(message: str) -> Iterator[str]:
    """Yield what a status cannot hold; its text is cut where it is written."""
    if not message.replace("\n", "").isprintable():
        yield f"a condition that cannot be printed: {message[:300]!r}"


def problems_of_message(message: str) -> Iterator[str]:
    """Yield what a terminal or a status cannot hold."""
    lines = message.split("\n") if message else []
    if len(lines) > MOST_LINES:
        yield f"{len(lines)} lines"
    for line in lines:
        if not line.isprintable():
            yield f"not printable: {line[:300]!r}"
        if len(line) > LONGEST_LINE:
            yield f"a line of {len(line)} characters: {line[:200]}"
        if _OF_OTHERS.search(line):
            yield f"words of libraries: {line[:300]}"
        if not line.strip():
            yield f"an empty line in {message[:300]!r}"
