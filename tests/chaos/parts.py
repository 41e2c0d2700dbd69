"""The parts of the suite: packages of this directory with a module `part`."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, cast

from chaos.journal import Row


class Part(Protocol):
    """What the module `part` of a package has."""

    TITLE: str
    """The heading of its section of the page."""
    TEXT: str
    """What is below the heading: what is done, what is checked."""

    def run(self, count: int | None, seed: int) -> Iterable[Row]:
        """Make this much trouble, or as much as the page has; yield its rows."""
        ...


def names() -> list[str]:
    """Return the names of all parts."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/part.py"))


def load(name: str) -> Part:
    """Return a part by its name."""
    return cast("Part", importlib.import_module(f"chaos.{name}.part"))
