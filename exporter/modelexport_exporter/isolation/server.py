"""The fork server of this process, and the workers that it has.

User code runs below it as the same user: it can stop or kill it. So the server is started anew, as
it was, without secrets, and nothing that a worker leaves behind goes on running.

Its imports take longer than all that precedes the first worker. So it can be started by a process
that has imported nothing else yet, as this module does; the libraries of the user's code, which
that process does not know then, follow through a named pipe.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from multiprocessing import forkserver, util
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from modelexport_exporter.core import entry_points
from modelexport_exporter.core.environment import without_secrets
from modelexport_exporter.isolation import descendants
from modelexport_exporter.isolation.bytecode import compile_in_background
from modelexport_exporter.isolation.prctl import SUPERVISOR_ENV, become_subreaper
from modelexport_exporter.isolation.shared_libraries import LIBRARIES_ENV, LibraryImport, encode
from modelexport_exporter.isolation.socket_directory import choose_socket_directory

_PIPE = "libraries"


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
        self.libraries: int | None = None
        """The pipe to a server that has not got the names of libraries yet. It is not closed
        before the server has read it."""
        self.libraries_known = False
        self.compiler: subprocess.Popen[bytes] | None = None
        """Writes bytecode, and ends by itself."""


_SERVER = _Server()


def start_early(preload: Sequence[str] = (entry_points.PRELOAD,)) -> None:
    """Start the fork server before anything is known of the work. Never raises.

    `start_server` must follow, or the end of the process. Main thread only.
    """
    with contextlib.suppress(OSError):
        _start(preload)
        _SERVER.compiler = compile_in_background()


def start_server(
    preload: Sequence[str] = (entry_points.PRELOAD,), libraries: Sequence[LibraryImport] = ()
) -> None:
    """Start the fork server, which imports the modules of workers; return at once.

    `libraries`: those of the user's code, for a preload that imports them, too; the first call says
    which. Main thread only.
    """
    _start(preload)
    _name_libraries(libraries)


def _start(preload: Sequence[str]) -> None:
    become_subreaper()
    multiprocessing.get_context("forkserver").set_forkserver_preload(
        [entry_points.ENDS_WITH_PARENT, entry_points.FORK_SERVER, *preload]
    )
    if _SERVER.libraries is not None:
        _ensure_running()
        return
    choose_socket_directory()
    pipe = Path(util.get_temp_dir()) / _PIPE
    os.mkfifo(pipe, 0o600)
    # To write and to read: it can be opened before the server opens it.
    _SERVER.libraries = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    os.environ[LIBRARIES_ENV] = str(pipe)
    try:
        _ensure_running()
    finally:
        del os.environ[LIBRARIES_ENV]


def _name_libraries(libraries: Sequence[LibraryImport]) -> None:
    if _SERVER.libraries is not None and not _SERVER.libraries_known:
        os.write(_SERVER.libraries, encode(libraries))
        _SERVER.libraries_known = True


def _ensure_running() -> None:
    """Start the server unless it runs, without secrets.

    A process's initial environment stays readable in /proc, for it and for its forks, even if
    variables are deleted later.
    """
    pid = _SERVER.pid
    if pid is not None and descendants.is_running(pid):
        return
    choose_socket_directory()
    os.environ[SUPERVISOR_ENV] = str(os.getpid())
    try:
        with without_secrets():
            forkserver.ensure_running()
    finally:
        del os.environ[SUPERVISOR_ENV]


@contextlib.contextmanager
def running(process: ForkServerProcess) -> Iterator[None]:
    """Start a worker, and end it and all that it started with the block.

    Raises ExportFailure if something cannot be ended.
    """
    with _SERVER.lock:
        _name_libraries(())  # it would wait for them
        _ensure_running()
        _wake()
        _SERVER.own_children = _children()
        try:
            process.start()
        except (OSError, EOFError) as error:  # user code ended the server at this moment
            from modelexport_exporter.isolation.death import not_started  # not needed to start

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
