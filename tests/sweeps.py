"""Which cases of the long directories run: all, or the part that MODELEXPORT_SWEEPS names (`1/3`).

A machine may compute four times slower than another one, where all cases would take two hours. A
case is in the same part on every machine.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

SWEEPS = ("exporter", "refusals", "seeds")
_VARIABLE = "MODELEXPORT_SWEEPS"
_TESTS = Path(__file__).parent


def is_chosen(name: str, part: str) -> bool:
    """Return whether a case is in a part such as `1/3`, the second of three."""
    place, count = map(int, part.split("/"))
    return zlib.crc32(name.encode()) % count == place % count


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases of other parts."""
    part = os.environ.get(_VARIABLE, "")
    if not part:
        return
    kept = [item for item in items if not _in_sweep(item) or is_chosen(item.nodeid, part)]
    left = set(items) - set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = kept


def _in_sweep(item: pytest.Item) -> bool:
    return item.path.relative_to(_TESTS).parts[0] in SWEEPS
