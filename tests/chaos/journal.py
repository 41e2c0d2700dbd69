"""The rows of a part: counted while it runs, kept in build/chaos/<part>.json for the page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
JOURNALS = ROOT / "build" / "chaos"


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of trouble: how often it was made, and how it ended."""

    part: str
    what: str
    """The trouble, as in `SIGKILL of the supervisor`; no two rows of a part have the same."""
    tried: int
    held: int
    """Cases in which all promises were kept. The others are counted by what was broken."""
    lost: int = 0
    """Work or artifacts that were gone."""
    doubled: int = 0
    """Work or artifacts that were there twice."""
    wrong: int = 0
    """A reader saw something else than one whole artifact; a verdict or a reason was wrong."""
    leaked: int = 0
    """Processes, files or uploads that were left; access that should have been refused."""
    remarks: str = ""


def path_of(part: str) -> Path:
    """Return where the journal of a part is."""
    return JOURNALS / f"{part}.json"


def write(part: str, rows: Iterable[Row]) -> None:
    """Write the journal of a part; half a journal is never there."""
    JOURNALS.mkdir(parents=True, exist_ok=True)
    new = path_of(part).with_suffix(".new")
    new.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    new.replace(path_of(part))


def read(part: str) -> list[Row] | None:
    """Return the rows of a part; None if it has no journal."""
    if not path_of(part).exists():
        return None
    return [Row(**row) for row in json.loads(path_of(part).read_text())]
