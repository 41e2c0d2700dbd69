"""The report of an export: where it is, and how a notebook shows it."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

_HEIGHT = 720
"""Pixels of the report in a notebook."""


def is_local(uri: str) -> bool:
    """Return whether a URI is that of a file of this machine."""
    return uri.startswith("file:")


def path_of(uri: str) -> Path:
    """Return the path of a file:// URI. Raises ValueError for what is in another store."""
    if not is_local(uri):
        raise ValueError(f"{uri} is not on this machine")
    return Path(unquote(urlsplit(uri).path))


def content_of(report: Path) -> dict[str, Any]:
    """Return the content of report.json."""
    content: dict[str, Any] = json.loads(report.read_bytes())
    return content


def frame_of(uri: str | None) -> str | None:
    """Return the page next to report.json in a frame that keeps its styles to itself.

    None if there is no page on this machine.
    """
    try:
        page = path_of(uri or "").with_name("report.html").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return (
        f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{_HEIGHT}" '
        'style="border:0" title="ModelExport report"></iframe>'
    )
