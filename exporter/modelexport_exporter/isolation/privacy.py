"""Hides the supervisor's secrets from user code, which runs as the same user in its workers.

Any process of the same user can read a process's initial environment (store credentials, the
signing key) and its memory through /proc and ptrace, unless it is not dumpable.
"""

from __future__ import annotations

import ctypes
import sys

_PR_SET_DUMPABLE = 4


def set_non_dumpable() -> None:
    """Deny other processes of the user access to this one; programs it executes are readable."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
