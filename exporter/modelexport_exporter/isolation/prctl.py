"""Settings that the kernel keeps of a process. Imports the standard library only."""

from __future__ import annotations

import ctypes
import signal
import sys

SUPERVISOR_ENV = "MODELEXPORT_SUPERVISOR"
"""Environment variable with the process ID of the parent that a fork server ends with."""

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent ends, for whatever reason."""
    _set(_PR_SET_PDEATHSIG, signal.SIGKILL)


def become_subreaper() -> None:
    """Become the parent of descendants whose parents end."""
    _set(_PR_SET_CHILD_SUBREAPER, 1)


def set_non_dumpable() -> None:
    """Deny other processes of the user access to this one; programs it executes are readable.

    Any of them could otherwise read its initial environment (store credentials, the signing key)
    and its memory through /proc and ptrace.
    """
    _set(_PR_SET_DUMPABLE, 0)


def _set(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
