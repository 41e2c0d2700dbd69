"""docs/performance.md, in which every benchmark has its table between two marks."""

from __future__ import annotations

from pathlib import Path

_PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"


def put_table(name: str, table: str) -> None:
    """Put a benchmark's table in the place of its last one."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = _PAGE.read_text().partition(begin)
    _, _, after = rest.partition(end)
    _PAGE.write_text(f"{before}{begin}\n{table}\n{end}{after}")
