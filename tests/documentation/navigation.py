"""The navigation of the site, read from the lists of docs/index.md: pure."""

from __future__ import annotations

import re

Navigation = list[dict[str, str | list[dict[str, str]]]]

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^- \[([^\]]+)\]\(([\w./-]+\.md)\)", re.MULTILINE)


def navigation(index: str) -> Navigation:
    """Return each section with its pages; a list entry that begins with a link is a page."""
    parts = _SECTION.split(index)
    found: Navigation = [{"Home": "index.md"}]
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        pages = [{name: path} for name, path in _ENTRY.findall(text) if not path.startswith("..")]
        found.append({title: pages})
    return found
