"""From single uses of operators without a translation to one entry for each operator."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from modelexport_api.status import UnsupportedOp
from modelexport_exporter.core.user_frame import is_users, shorten
from modelexport_exporter.diagnosis.operators.support import Advice

_FRAMES = (
    re.compile(r'File "([^"]+)", line (\d+)'),
    re.compile(r"^(\S.*?)\((\d+)\): ", re.MULTILINE),
)
HINT_LIMIT = 512


@dataclass(frozen=True)
class OperatorUse:
    """One place where a model uses an operator."""

    name: str
    """With its overload, `aten::erfinv.default`."""
    module: str = ""
    """Path of the nn.Module, `encoder.layer.0`; empty for the model itself."""
    source: str = ""
    """`model.py:17`; empty where no line is known."""


def grouped(uses: Iterable[OperatorUse], advise: Advice) -> list[UnsupportedOp]:
    """Return one entry for each operator, in the order of first use."""
    found: dict[str, list[OperatorUse]] = {}
    for use in uses:
        found.setdefault(use.name, []).append(use)
    return [_entry(name, places, advise) for name, places in found.items()]


def _entry(name: str, places: list[OperatorUse], advise: Advice) -> UnsupportedOp:
    first = next((use for use in places if use.source), places[0])
    way_out = advise(name)
    return UnsupportedOp(
        name=name,
        count=len(places),
        module=first.module,
        source=first.source,
        support=way_out.support,
        hint=way_out.hint[:HINT_LIMIT],
    )


def source_line(trace: str, code_dir: Path | None, *, innermost_first: bool = False) -> str:
    """Return the innermost line of the user's in a stack trace as `file:line`.

    Where no line is the user's, the innermost one in a file.
    """
    frames = [match for pattern in _FRAMES for match in pattern.findall(trace)]
    frames = [frame for frame in frames if not frame[0].startswith("<")]
    if not innermost_first:
        frames.reverse()
    users = [frame for frame in frames if is_users(frame[0], code_dir)]
    for filename, line in users or frames:
        return f"{shorten(filename, code_dir)}:{line}"
    return ""
