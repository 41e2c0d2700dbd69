"""Files below a directory, each opened in the directory that was opened before it.

The content of a volume is not trusted, and no link in it may lead out of it. Others write there
while the exporter runs, and may replace a directory by a link at any moment. So a path is never
given to the kernel as a whole, and a link is followed here, as far as it stays below the root.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from modelexport_exporter.storage.refused_places import (
    RefusedPlaceError,
    RefusedPlaces,
    on_this_machine,
)

# macOS has no O_PATH.
_AS_PLACE = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_MOST_LINKS = 40
"""On one way, as in Linux."""


class LeavesRootError(OSError):
    """A path, or a link on its way, leads out of the root."""

    def __init__(self, name: str, target: str) -> None:
        super().__init__(errno.EXDEV, f"{name} leads out of the volume, to {target}")


class NoRootError(OSError):
    """The root itself is not there."""


@dataclass(frozen=True)
class Tree:
    """A directory and all below it. Paths are relative to it. Every method raises OSError."""

    root: Path
    confined: bool = True
    """Whether `..` above the root and absolute links are refused; else both lead to the root."""
    refused: RefusedPlaces = field(default_factory=on_this_machine)

    @contextlib.contextmanager
    def directory(self, path: str, *, create: bool = False) -> Iterator[int]:
        """Open a directory as a place for names, not for reading; `create`: where it is missing."""
        with _Walk(self, path, create=create) as walk:
            walk.go()
            walk.check_here()
            yield walk.here

    @contextlib.contextmanager
    def entry(
        self, path: str, *, create: bool = False, follow: bool = True
    ) -> Iterator[tuple[int, str]]:
        """Yield the directory of a path, and its name in there, which is no link that was seen.

        `create`: make the directories on the way. `follow`: go on where the name itself is a link.
        """
        with _Walk(self, path, create=create) as walk:
            name = walk.go_to_last(follow=follow)
            walk.check_here()
            yield walk.here, name

    @contextlib.contextmanager
    def file(self, path: str) -> Iterator[int]:
        """Open a regular file for reading."""
        with self.entry(path) as (above, name):
            # Without O_NONBLOCK, opening a named pipe would wait for a writer.
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
            # Some devices do something when they are opened.
            self.refused.check(os.stat(name, dir_fd=above, follow_symlinks=False))
            descriptor = os.open(name, flags, dir_fd=above)
        try:
            found = os.fstat(descriptor)
            self.refused.check(found)
            if not stat.S_ISREG(found.st_mode):
                raise FileNotFoundError(errno.ENOENT, "not a regular file")
            yield descriptor
        finally:
            os.close(descriptor)

    def stat(self, path: str) -> os.stat_result:
        """Return what a path names, at the end of its links."""
        with self.entry(path) as (above, name):
            found = os.stat(name, dir_fd=above, follow_symlinks=False)
            self.refused.check(found)
            return found

    def is_refused(self, directory: int) -> bool:
        """Return whether the files of an open directory may not be named."""
        try:
            self.refused.check(os.fstat(directory))
        except RefusedPlaceError:
            return True
        return False

    def last_seen(self, path: str) -> tuple[str, os.stat_result]:
        """Return what a path names, or the last directory on its way that can be looked at."""
        names = _names(path)
        for length in range(len(names), 0, -1):
            with contextlib.suppress(OSError):
                beginning = "/".join(names[:length])
                return beginning, self.stat(beginning)
        with self.directory("") as root:
            return "", os.fstat(root)


class _Walk:
    """The directories from the root to here, all of them open."""

    def __init__(self, tree: Tree, path: str, *, create: bool) -> None:
        self._tree, self._path, self._create = tree, path, create
        self._todo = deque(_names(path))
        if tree.confined and ".." in self._todo:
            raise LeavesRootError(path, "..")
        self._links = 0
        self._open: list[int] = []

    def __enter__(self) -> _Walk:
        try:
            self._open.append(os.open(self._tree.root, _AS_PLACE))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoRootError(error.errno, error.strerror) from None
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            os.close(self._open.pop())

    @property
    def here(self) -> int:
        return self._open[-1]

    def check_here(self) -> None:
        """Raise RefusedPlaceError where this directory's files may not be named."""
        *above, here = (os.fstat(descriptor) for descriptor in self._open)
        self._tree.refused.check(here, above)

    def go(self, *, leave: int = 0) -> None:
        """Enter the directories on the way, but so many last ones."""
        while len(self._todo) > leave:
            name = self._todo.popleft()
            if name == "..":
                self._up()
            elif not self._followed(name):
                self._open.append(self._enter(name))

    def go_to_last(self, *, follow: bool) -> str:
        """Go to the directory of the last name; return that name."""
        while True:
            self.go(leave=1)
            if not self._todo:
                raise IsADirectoryError(errno.EISDIR, "it is a directory")
            name = self._todo.popleft()
            if name == "..":
                self._up()
            elif not follow or not self._followed(name):
                return name

    def _enter(self, name: str) -> int:
        try:
            return os.open(name, _AS_PLACE | os.O_NOFOLLOW, dir_fd=self.here)
        except FileNotFoundError:
            if not self._create:
                raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=self.here)
        return os.open(name, _AS_PLACE | os.O_NOFOLLOW, dir_fd=self.here)

    def _followed(self, name: str) -> bool:
        """Put the target of a link in its place; return False for what is no link."""
        try:
            target = os.readlink(name, dir_fd=self.here)
        except OSError as error:
            if error.errno in {errno.EINVAL, errno.ENOENT}:
                return False
            raise
        self._links += 1
        if self._links > _MOST_LINKS:
            raise OSError(errno.ELOOP, "too many links on its way")
        if target.startswith("/"):
            if self._tree.confined:
                raise LeavesRootError(f"the link {name}", target)
            while len(self._open) > 1:
                os.close(self._open.pop())
        self._todo.extendleft(reversed(_names(target)))
        return True

    def _up(self) -> None:
        """Go back to where this directory was entered from, wherever it has been moved to."""
        if len(self._open) > 1:
            os.close(self._open.pop())
        elif self._tree.confined:
            raise LeavesRootError(f"a link on the way to {self._path}", "..")


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in {"", "."}]
