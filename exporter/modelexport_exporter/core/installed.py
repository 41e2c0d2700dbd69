"""The directories of installed packages and of the standard library.

Besides the interpreter's own, packages are where `pip install --target` put them and PYTHONPATH
names them, in the user's site directory, and in Debian's dist-packages.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from pathlib import Path


@cache
def package_directories() -> tuple[str, ...]:
    """Return the directories of packages, each with a separator at its end."""
    own = (sysconfig.get_path(name) for name in ("purelib", "platlib"))
    return _as_prefixes([*own, *filter(has_distributions, sys.path)])


@cache
def standard_directories() -> tuple[str, ...]:
    """Return the directories of the standard library, each with a separator at its end."""
    return _as_prefixes(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))


def has_distributions(directory: str) -> bool:
    """Return whether an installer left a distribution's metadata in a directory.

    An `.egg-info` beside the user's own packages is none: setuptools writes it into a source tree.
    """
    try:
        return any(path.suffix == ".dist-info" for path in Path(directory or ".").iterdir())
    except OSError:  # a zip file, or nothing
        return False


def _as_prefixes(directories: Iterable[str]) -> tuple[str, ...]:
    found = {str(Path(own).absolute()) for own in directories}
    return tuple(sorted(f"{own}{os.sep}" for own in found))
