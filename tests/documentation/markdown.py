"""Tables and cells of generated pages: pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_CODE = re.compile(r"(`[^`]+`)")


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, or nothing if it has no row."""
    lines = [_line(row) for row in rows]
    if not lines:
        return ""
    return "\n".join([_line(titles), _line(["---"] * len(titles)), *lines]) + "\n"


def code(text: str) -> str:
    """Return text as code, or nothing."""
    return f"`{text}`" if text else ""


def cell(text: str) -> str:
    """Return text that stands in a cell of a table; in it, only code has a meaning."""
    parts = _CODE.split(" ".join(text.split()).replace("|", "\\|"))
    return "".join(part if _CODE.fullmatch(part) else _plain(part) for part in parts)


def _plain(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
