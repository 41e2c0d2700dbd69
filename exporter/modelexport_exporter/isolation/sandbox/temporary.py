"""A path to a directory of temporary files that is short enough for Unix sockets in it.

Code that passes tensors between processes (a `DataLoader` with workers, shared memory) makes such
sockets there, whose paths have 107 bytes at most; with a longer one it waits for ever. Where a
run's directory has a long path, workers reach it by a link with a short one. So the files need no
other disk and no other rule, and the link of a killed run is known by leading nowhere.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

LONGEST_BYTES = 64
"""Of the path: the longest names of multiprocessing and torch below it take 35, others more."""
PREFIX = "mx-"
_PLACES = ("/tmp", "/var/tmp")  # noqa: S108 - a link of an unpredictable name, and no file
_ATTEMPTS = 10


@contextlib.contextmanager
def short_path(directory: Path) -> Iterator[Path]:
    """Yield the directory's path, or a short link to it, which is gone afterwards.

    Where no link can be made, it is the directory's own path.
    """
    if _is_short(directory):
        yield directory
        return
    link = _link(directory, [Path(tempfile.gettempdir()), *map(Path, _PLACES)])
    try:
        yield link or directory
    finally:
        if link is not None:
            link.unlink(missing_ok=True)


def _link(directory: Path, places: list[Path]) -> Path | None:
    for place in places:
        if not _is_short(place / f"{PREFIX}{'0' * 8}"):
            continue
        with contextlib.suppress(OSError):
            _sweep(place)
            for _ in range(_ATTEMPTS):
                link = place / f"{PREFIX}{secrets.token_hex(4)}"
                with contextlib.suppress(FileExistsError):
                    link.symlink_to(directory)
                    return link
    return None


def _sweep(place: Path) -> None:
    """Remove this user's links to the directories of runs that are gone."""
    for path in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            mine = path.lstat().st_uid == os.geteuid()
            if mine and path.is_symlink() and not path.exists():
                path.unlink()


def _is_short(path: Path) -> bool:
    return len(os.fsencode(path)) <= LONGEST_BYTES
