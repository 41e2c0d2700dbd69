"""The fork server of this process, and the workers that it has.

User code runs below it as the same user: it can stop or kill it. So the server is started anew, as
it was, without credentials, and nothing that a worker leaves behind goes on running.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess

from modelexport_exporter.core import entry_points
from modelexport_exporter.core.environment import without_credentials
from modelexport_exporter.core.types import LibraryImport
from modelexport_exporter.isolation import descendants
from modelexport_exporter.isolation.death import not_started
from modelexport_exporter.isolation.prctl import SUPERVISOR_ENV, become_subreaper
from modelexport_exporter.isolation.shared_libraries import LIBRARIES_ENV, encode
from modelexport_exporter.isolation.socket_directory import choose_socket_directory


class _Server:
    """What is known of the processes below this one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        """Held while a worker starts or what is left behind is ended: neither sees half of it."""
        self.workers: set[int] = set()
        self.own_children: set[int] = set()
        """Of this process, when a worker was started last."""
        self.pid: int | None = None
        """The server's process; None before a worker was started."""


_SERVER = _Server()


def start_server(
    preload: Sequence[str] = (entry_points.PRELOAD,), libraries: Sequence[LibraryImport] = ()
) -> None:
    """Start the fork server, which imports the modules of workers; return at once.

    `libraries`: those of the user's code, for a preload that imports them, too. Main thread only.
    """
    become_subreaper()
    multiprocessing.get_context("forkserver").set_forkserver_preload(
        [entry_points.ENDS_WITH_PARENT, entry_points.FORK_SERVER, *preload]
    )
    if libraries:
        os.environ[LIBRARIES_ENV] = encode(libraries)
    try:
        _ensure_running()
    finally:
        os.environ.pop(LIBRARIES_ENV, None)


def _ensure_running() -> None:
    """Start the server unless it runs, without credentials.

    A process's initial environment stays readable in /proc, for it and for its forks, even if
    variables are deleted later.
    """
    pid = _SERVER.pid
    if pid is not None and descendants.is_running(pid):
        return
    choose_socket_directory()
    os.environ[SUPERVISOR_ENV] = str(os.getpid())
    try:
        with without_credentials():
            forkserver.ensure_running()
    finally:
        del os.environ[SUPERVISOR_ENV]


@contextlib.contextmanager
def running(process: ForkServerProcess) -> Iterator[None]:
    """Start a worker, and end it and all that it started with the block.

    Raises ExportFailure if something cannot be ended.
    """
    with _SERVER.lock:
        _ensure_running()
        _wake()
        _SERVER.own_children = _children()
        try:
            process.start()
        except (OSError, EOFError) as error:  # user code ended the server at this moment
            raise not_started(str(error)) from error
        pid = process.pid
        assert pid is not None
        _SERVER.workers.add(pid)
        parent = descendants.parent_of(pid)
        if parent != os.getpid():
            _SERVER.pid = parent or _SERVER.pid
    try:
        yield
    finally:
        _kill(pid)
        _wake()
        process.join(5)
        with _SERVER.lock:
            _SERVER.workers.discard(pid)
        end_orphans()


def has_workers() -> bool:
    """Return whether a worker runs, which may have files of an export open."""
    with _SERVER.lock:
        return bool(_SERVER.workers)


def _wake() -> None:
    """Let the server go on, if user code stopped it."""
    with contextlib.suppress(ProcessLookupError):
        if _SERVER.pid is not None:
            os.kill(_SERVER.pid, signal.SIGCONT)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def end_orphans() -> None:
    """End what is below the fork server and below no running worker.

    Where user code ended the server, that is what became a child of this process since it started
    a worker. Raises ExportFailure if something cannot be ended.
    """
    with _SERVER.lock:
        pid = _SERVER.pid
        if pid is None:
            return
        if descendants.is_running(pid):
            descendants.end_below(pid, _SERVER.workers)
        if not descendants.is_running(pid):  # it may have ended meanwhile
            descendants.end_below(os.getpid(), _SERVER.own_children | _SERVER.workers)


def _children() -> set[int]:
    """Return the children of this process."""
    own = os.getpid()
    parents = descendants.parents_of_processes()
    return {pid for pid, parent in parents.items() if parent == own}
