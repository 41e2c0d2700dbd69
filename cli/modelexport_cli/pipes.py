"""Standard output and error as pipes whose reader may leave before the end, as `head` does.

What it left unread is dropped, and the command goes on: its exit code is that of its work.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_NAMES = ("stdout", "stderr")


@contextmanager
def surviving_closed_pipes() -> Iterator[None]:
    """Let the block write to standard output and error after their reader has gone."""
    before = {name: getattr(sys, name) for name in _NAMES}
    for name, stream in before.items():
        if is_pipe(stream):
            stream.flush()
            setattr(sys, name, wrapped(stream))
    try:
        yield
    finally:
        for name, stream in before.items():
            getattr(sys, name).flush()
            setattr(sys, name, stream)


def is_pipe(stream: TextIO) -> bool:
    """Return whether a stream writes to a pipe or a socket."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError, AttributeError):  # a stream of tests, or none at all
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def wrapped(stream: TextIO) -> TextIO:
    """Return a stream to the same pipe that drops what nobody reads."""
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno())),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=True,
    )


class _Pipe(io.RawIOBase):
    """The end of a pipe that is written to."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def writable(self) -> bool:
        """Return that it can be written."""
        return True

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._descriptor

    def write(self, data: object) -> int:
        """Write bytes; those that nobody will read count as written."""
        content = memoryview(data)  # type: ignore[arg-type]
        try:
            return os.write(self._descriptor, content)
        except BrokenPipeError:
            return content.nbytes
