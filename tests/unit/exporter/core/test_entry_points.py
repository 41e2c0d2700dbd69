"""Every name in the table of entry points leads to something."""

from __future__ import annotations

import importlib
from operator import attrgetter
from pathlib import Path

import pytest

from modelexport_exporter.core import entry_points

ENTRIES = {name: entry for name, entry in vars(entry_points).items() if name[0].isupper()}


@pytest.mark.parametrize("name", ENTRIES)
def test_each_entry_resolves(name: str) -> None:
    module, _, attribute = ENTRIES[name].partition(":")
    imported = importlib.import_module(module)
    if attribute:
        assert callable(attrgetter(attribute)(imported))
    if name.endswith("_TEMPLATES"):
        assert imported.__file__ is not None
        assert list(Path(imported.__file__).with_name("templates").glob("*.j2"))
