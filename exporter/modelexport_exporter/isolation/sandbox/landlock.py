"""Landlock: which files, signals and sockets this process and its children may use.

The three system calls by ctypes: the bindings on PyPI are first versions of one person each, for
what is a page here. Rights up to ABI 6 are used, which is what the tests run on.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
from collections.abc import Iterable
from enum import IntFlag

from modelexport_exporter.isolation.sandbox.linux import system_call
from modelexport_exporter.isolation.sandbox.places import Access, Grant

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""The same numbers on all machines."""
_VERSION = 1
_PATH_BENEATH = 1
SCOPES_ABI = 6
"""From this version on, signals and abstract sockets end at the sandbox."""
_TRUNCATE_ABI = 3
_TCP_ABI = 4


class Right(IntFlag):
    """LANDLOCK_ACCESS_FS_*, in the kernel's order."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


_SINCE = {Right.REFER: 2, Right.TRUNCATE: _TRUNCATE_ABI, Right.IOCTL_DEV: 5}
"""The ABI version of rights that the first one does not have."""
_READ = Right.EXECUTE | Right.READ_FILE | Right.READ_DIR
_OF_FILES = Right.EXECUTE | Right.WRITE_FILE | Right.READ_FILE | Right.TRUNCATE | Right.IOCTL_DEV
_RIGHTS = {
    Access.LIST: Right.READ_DIR,
    Access.READ: _READ,
    Access.WRITE: Right.READ_FILE | Right.READ_DIR | Right.WRITE_FILE | Right.TRUNCATE,
    Access.OWN: ~(Right.MAKE_CHAR | Right.MAKE_BLOCK | Right.IOCTL_DEV),
    Access.DEVICE: Right.READ_FILE | Right.READ_DIR | Right.WRITE_FILE | Right.IOCTL_DEV,
}
_TCP = 0b11
_SCOPES = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def kernel_abi() -> int:
    """Return the version that the kernel offers; 0 if it offers none to this process."""
    try:
        return system_call(_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def missing(abi: int) -> tuple[str, ...]:
    """Return what is not in force with an ABI version, each with its reason."""
    if abi == 0:
        return ("files, signals: the kernel has no Landlock",)
    needs = (
        ("truncation of files by path", _TRUNCATE_ABI),
        ("signals and abstract sockets to other processes", SCOPES_ABI),
    )
    return tuple(f"{what}: Landlock ABI {abi} of {since}" for what, since in needs if abi < since)


def handled(abi: int) -> Right:
    """Return the rights that an ABI version can refuse."""
    return Right(sum(right for right in Right if _SINCE.get(right, 1) <= abi))


def rights_of(access: Access, abi: int, *, directory: bool) -> Right:
    """Return the rights of a rule."""
    rights = _RIGHTS[access] & handled(abi)
    return rights if directory else rights & _OF_FILES


def restrict(grants: Iterable[Grant], abi: int, *, network: bool) -> None:
    """Refuse this thread and its children everything but what is granted. Raises OSError.

    Paths that do not exist are passed over. The caller has set no_new_privs.
    """
    tcp = _TCP if abi >= _TCP_ABI and not network else 0
    attributes = _Ruleset(handled(abi), tcp, _SCOPES if abi >= SCOPES_ABI else 0)
    size = 24 if abi >= SCOPES_ABI else 16 if abi >= _TCP_ABI else 8
    ruleset = system_call(_CREATE_RULESET, ctypes.byref(attributes), size, 0)
    try:
        for grant in grants:
            with contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
                _allow(ruleset, grant, abi)
        system_call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, grant: Grant, abi: int) -> None:
    descriptor = os.open(grant.path, os.O_PATH | os.O_CLOEXEC)
    try:
        directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rights = rights_of(grant.access, abi, directory=directory)
        if rights:
            rule = _PathBeneath(rights, descriptor)
            system_call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)
