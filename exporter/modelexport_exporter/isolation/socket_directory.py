"""Where the fork server listens: a directory that the next run removes if this process is killed.

multiprocessing's own (`/tmp/pymp-…`) is removed by an orderly exit of the interpreter only. It is
used where this one cannot be.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
from contextlib import ExitStack
from pathlib import Path

from modelexport_exporter.core.locked_directory import (
    UntrustedDirectoryError,
    locked_directory,
    private_parent,
)

_ENTRY = "tempdir"
_LONGEST_PATH = 100
"""Of a socket: 107 bytes with Linux, 103 with macOS."""
_NAME = "listener-12345678"
_held = ExitStack()


def choose_socket_directory() -> None:
    """Let multiprocessing create its sockets there."""
    config = vars(multiprocessing.current_process())["_config"]
    chosen = config.get(_ENTRY)
    if chosen is not None and Path(chosen).is_dir():
        return
    config.pop(_ENTRY, None)
    if len(os.fsencode(private_parent() / "modelexport-run-12345678" / _NAME)) > _LONGEST_PATH:
        return
    with contextlib.suppress(OSError, UntrustedDirectoryError):
        config[_ENTRY] = str(_held.enter_context(locked_directory(private_parent())))
        atexit.register(_remove_own, os.getpid())


def remove_socket_directory() -> None:
    """Remove it when no worker is started any more."""
    _held.close()


def _remove_own(owner: int) -> None:
    """Not at the end of a fork: its parent goes on."""
    if os.getpid() == owner:
        remove_socket_directory()
