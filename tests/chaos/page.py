"""docs/reliability.md: a section for each part, from its journal or from the page as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from chaos.journal import ROOT, Row

PAGE = ROOT / "docs" / "reliability.md"
HEAD = """\
# Reliability

What happens to exports when their processes, pods, store and network fail, measured. `make chaos`
makes the trouble and writes this page; a small part of each section runs in every test run.

| column | cases |
|---|---|
| tried | that were made |
| held | in which everything was as promised |
| lost | in which work or an artifact was gone |
| doubled | in which work or an artifact was there twice |
| wrong | in which a reader saw no whole artifact, or a verdict or a reason was incorrect |
| leaked | in which processes, files or uploads were left behind, or access was possible |
"""
_COLUMNS = ("tried", "held", "lost", "doubled", "wrong", "leaked")


def compose(written: Mapping[str, str], old: str) -> str:
    """Return the page: sections by part, those that were not written now as they are in `old`."""
    sections = {**_sections(old), **written}
    return "\n".join([HEAD, *(sections[part] for part in sorted(sections))]).rstrip() + "\n"


def section(part: str, title: str, text: str, rows: Iterable[Row]) -> str:
    """Return the section of a part."""
    return "\n".join([f"## {title}", f"<!-- {part} -->", text.strip(), "", *_table(rows), ""])


def _table(rows: Iterable[Row]) -> Iterator[str]:
    yield "| what | " + " | ".join(_COLUMNS) + " | remarks |"
    yield "|---" * (len(_COLUMNS) + 2) + "|"
    for row in rows:
        counts = " | ".join(str(getattr(row, name)) for name in _COLUMNS)
        yield f"| {row.what} | {counts} | {row.remarks} |"


def _sections(page: str) -> dict[str, str]:
    """Return the sections of a page by part."""
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]
    found = {match[1]: part for part in parts if (match := re.search(r"<!-- (\w+) -->", part))}
    return {name: part.rstrip() + "\n" for name, part in found.items()}
