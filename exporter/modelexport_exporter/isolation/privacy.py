"""Keeps what the supervisor knows from the user's code, which runs as the same user in its workers.

The environment that a process was started with (store credentials, the signing key) and its memory
can be read by any process of the same user, through /proc and ptrace, unless it is not dumpable.
"""

from __future__ import annotations

import ctypes
import sys

_PR_SET_DUMPABLE = 4


def set_non_dumpable() -> None:
    """Close this process to others of its user; those that it starts by exec are open again."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
