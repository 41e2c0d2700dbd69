"""System calls that Python's standard library does not have."""

from __future__ import annotations

import ctypes
import os
from functools import cache

_PR_SET_NO_NEW_PRIVS = 38


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def system_call(number: int, *arguments: object) -> int:
    """Return what a system call returned. Raises OSError."""
    # A plain int would be passed in 32 bits, with anything above it.
    wide = (ctypes.c_long(value) if isinstance(value, int) else value for value in arguments)
    result = int(_libc().syscall(ctypes.c_long(number), *wide))
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def set_no_new_privileges() -> None:
    """Let no program that this process executes gain privileges (setuid). Raises OSError."""
    if _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
