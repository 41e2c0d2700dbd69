"""Imported by the fork server before the workers' modules: it forks for the supervisor only.

It ends by a signal of the kernel (`ends_with_parent`): multiprocessing ends the server when a pipe
to the supervisor closes, but every worker holds that pipe open too, so a hanging worker would keep
the server, and therefore itself, alive. A signal also avoids an orderly exit, in which libraries
print warnings after the verdict.

It is a subreaper: what workers leave behind becomes a child of it, where the supervisor finds it.
multiprocessing warns about each of them when it ends.

Before Python 3.14 any process of the user may ask the server for a process, through a socket with a
path: code in a sandbox would get one outside of it.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import warnings
from multiprocessing import reduction

from modelexport_exporter.isolation.prctl import become_subreaper

_CREDENTIALS = struct.Struct("=iII")
"""The process, user and group that connected."""
_receive = reduction.recvfds
_SERVER = os.getpid()


def _receive_of_supervisor(sock: socket.socket, size: int) -> list[int]:
    """Return the descriptors of a request. Raises OSError if it is another process's.

    The server passes over this error, and goes on.
    """
    if os.getpid() == _SERVER:  # and not a fork of it
        found = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        if _CREDENTIALS.unpack(found)[0] != os.getppid():
            raise ConnectionAbortedError(errno.ECONNABORTED, "only the supervisor may ask")
    return _receive(sock, size)


become_subreaper()
warnings.filterwarnings("ignore", message="forkserver: waitpid returned unexpected pid")
# torch.compile would keep them in a directory that is chosen when torch is imported here, and that
# no sandbox may write.
os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0"
if hasattr(socket, "SO_PEERCRED"):
    reduction.recvfds = _receive_of_supervisor
