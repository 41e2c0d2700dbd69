"""A directory that is its process's own until it ends, and is removed by the next if it is killed.

Code that is fetched into it is imported from there. So nobody else may be able to put a file into
it, or to replace it: the default place is in a directory that all users of a machine may write to.
Imports the standard library only: the fork server's socket is in one before anything else is there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "modelexport-run-"
STARTING_PREFIX = f".{PREFIX}"
"""Of a directory whose lock is not held yet. Another run would take it for that of a dead one."""
_LOCK_NAME = "lock"
_LONGEST_START_SECONDS = 3600
_OTHERS = 0o077


class UntrustedDirectoryError(Exception):
    """Another user could replace what is in the directory."""


def private_parent() -> Path:
    """Return the default place of such directories, which is this user's alone."""
    return Path(tempfile.gettempdir()) / f"modelexport-{os.getuid()}"


@contextlib.contextmanager
def locked_directory(parent: Path, *, trusted: bool = False) -> Iterator[Path]:
    """Yield an empty directory below `parent`; while its process lives it holds a lock on it.

    `trusted`: whether nobody else can be there. Raises OSError and UntrustedDirectoryError.
    """
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not trusted:
        _check_parent(parent)
    remove_dead(parent)
    directory, descriptor = _create(parent)
    try:
        yield directory
    finally:
        _remove(directory)
        os.close(descriptor)


def remove_dead(parent: Path) -> None:
    """Remove what killed processes left below a place, and below the default one."""
    _sweep(parent)
    if parent != private_parent() and _is_ours(private_parent()):
        # Where their fork servers listened.
        _sweep(private_parent())


def objection(entry: os.stat_result, directory: os.stat_result, user: int) -> str | None:
    """Return why `user` cannot trust a directory, None if nobody else can replace its content.

    `entry`: of the path, which may be a link. `directory`: what it leads to.
    """
    if stat.S_ISLNK(entry.st_mode) and entry.st_uid not in {user, 0}:
        return f"is a link that user {entry.st_uid} made"
    if directory.st_uid not in {user, 0}:
        return f"belongs to user {directory.st_uid}"
    if directory.st_mode & stat.S_IWOTH and not directory.st_mode & stat.S_ISVTX:
        return "can be written by every user"
    return None


def _check_parent(parent: Path) -> None:
    """Check a directory that may have been there. Raises UntrustedDirectoryError, OSError."""
    entry = parent.lstat()
    found = objection(entry, parent.stat(), os.geteuid())
    if found is None and parent == private_parent():
        found = _make_private(parent, entry)
    if found is not None:
        raise UntrustedDirectoryError(found)


def _make_private(parent: Path, entry: os.stat_result) -> str | None:
    """Close the default directory to others; return why that is impossible."""
    if stat.S_ISLNK(entry.st_mode):
        return "is a link"
    if entry.st_uid != os.geteuid():
        return f"belongs to user {entry.st_uid}"
    if entry.st_mode & _OTHERS:
        parent.chmod(0o700)
    return None


def _create(parent: Path) -> tuple[Path, int]:
    """Return a new directory and the descriptor that locks it.

    It gets its name when the lock is held, so that no other run finds it without.
    """
    starting = Path(tempfile.mkdtemp(prefix=STARTING_PREFIX, dir=parent))
    descriptor = os.open(starting / _LOCK_NAME, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        directory = starting.with_name(starting.name.removeprefix("."))
        starting.rename(directory)
    except OSError:
        os.close(descriptor)
        raise
    return directory, descriptor


def _sweep(parent: Path) -> None:
    """Remove the directories of this user's runs that are no longer alive."""
    for directory in parent.glob(f"{PREFIX}*"):
        if _is_ours(directory):
            _remove_if_dead(directory)
    for directory in parent.glob(f"{STARTING_PREFIX}*"):
        if _is_ours(directory) and _age_seconds(directory) > _LONGEST_START_SECONDS:
            _remove(directory)


def _remove_if_dead(directory: Path) -> None:
    try:
        descriptor = os.open(directory / _LOCK_NAME, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        # A run that ended removes its lock before its directory, and may be killed in between.
        _remove(directory)
        return
    except OSError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(directory)
    except OSError:
        return
    finally:
        os.close(descriptor)


def _remove(directory: Path) -> None:
    """Remove a directory, with those in it that code of the model closed to everybody."""
    with contextlib.suppress(OSError):
        directory.chmod(stat.S_IRWXU)
    for at, names, _ in os.walk(directory):  # top down: what is opened here is entered next
        for path in (Path(at, name) for name in names):
            with contextlib.suppress(OSError):
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)
    shutil.rmtree(directory, ignore_errors=True)


def _is_ours(directory: Path) -> bool:
    try:
        found = directory.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _age_seconds(directory: Path) -> float:
    try:
        return time.time() - directory.lstat().st_mtime
    except OSError:
        return 0
