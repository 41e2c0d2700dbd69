"""seccomp: system calls that user code does not need, refused with EPERM.

Refused, not killed: libraries that try one go on without it. clone3, whose flags a filter cannot
read, is ENOSYS, on which libc uses clone.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from modelexport_exporter.isolation.sandbox.linux import system_call

CALLS: dict[str, tuple[int | None, int | None]] = {
    # Other processes' memory and descriptors.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # Namespaces and file systems.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    # Parts of the kernel with a large surface.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # The machine.
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "acct": (163, 89),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
}
"""Refused system calls, with their numbers on x86-64 and on aarch64."""

_NAMESPACES = 0x7E02_0000
"""All CLONE_NEW* flags that clone takes."""
_LOCAL_SOCKETS = (1,)
_NETWORK_SOCKETS = (1, 2, 10, 16)
"""AF_UNIX; with the network open AF_INET, AF_INET6 and AF_NETLINK, by which names are resolved."""
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which write into a terminal's input."""


@dataclass(frozen=True)
class Machine:
    """Numbers of a processor's system calls."""

    audit: int
    """AUDIT_ARCH_*."""
    column: int
    """Its place in CALLS."""
    seccomp: int
    clone: int
    socket: int
    prlimit: int
    ioctl: int
    clone3: int = 435


MACHINES = {
    "x86_64": Machine(0xC000_003E, 0, seccomp=317, clone=56, socket=41, prlimit=302, ioctl=16),
    "aarch64": Machine(0xC000_00B7, 1, seccomp=277, clone=220, socket=198, prlimit=261, ioctl=29),
}

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF_0000, 0x0005_0000
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32 = 0x4000_0000
_GET_ACTION_AVAILABLE, _SET_FILTER, _ALL_THREADS = 2, 1, 1

Instruction = tuple[int, int, int, int]
"""Code, jumps if true and if false, value: a struct sock_filter."""


def this_machine() -> Machine | None:
    """Return the numbers of this processor; None if there are none here."""
    return MACHINES.get(platform.machine())


def available() -> bool:
    """Return whether the kernel lets this process install a filter."""
    machine = this_machine()
    if machine is None:
        return False
    action = ctypes.c_uint32(_ERRNO)
    try:
        system_call(machine.seccomp, _GET_ACTION_AVAILABLE, 0, ctypes.byref(action))
    except OSError:
        return False
    return True


def program(machine: Machine, *, network: bool) -> list[Instruction]:
    """Return the filter; both machines are little-endian, so an argument's low half comes first."""
    code = [
        _load(_MACHINE_AT),
        (_EQUAL, 1, 0, machine.audit),
        _refuse(errno.EPERM),
        _load(_NUMBER_AT),
        *_if(_AT_LEAST, _X32, errno.ENOSYS),
        *_if(_EQUAL, machine.clone3, errno.ENOSYS),
    ]
    for numbers in CALLS.values():
        number = numbers[machine.column]
        if number is not None:
            code += _if(_EQUAL, number, errno.EPERM)
    families = _NETWORK_SOCKETS if network else _LOCAL_SOCKETS
    code += _on(machine.clone, 0, [*_if(_ANY_BIT, _NAMESPACES, errno.EPERM), _allow()])
    code += _on(machine.socket, 0, [*_allow_only(families)])
    # Limits of other processes: one on CPU time would end them.
    code += _on(machine.prlimit, 0, [*_allow_only((0,))])
    terminal = [step for request in _TERMINAL_INPUT for step in _if(_EQUAL, request, errno.EPERM)]
    code += _on(machine.ioctl, 1, [*terminal, _allow()])
    return [*code, _allow()]


def install(machine: Machine, instructions: list[Instruction]) -> None:
    """Install a filter for this process and its children. Raises OSError."""
    packed = b"".join(struct.pack("=HBBI", *step) for step in instructions)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    # struct sock_fprog: a length, padding, a pointer.
    head = struct.pack("=H6xQ", len(instructions), ctypes.addressof(buffer))
    system_call(
        machine.seccomp, _SET_FILTER, _ALL_THREADS, ctypes.create_string_buffer(head, len(head))
    )


def _load(offset: int) -> Instruction:
    return (_LOAD, 0, 0, offset)


def _allow() -> Instruction:
    return (_RETURN, 0, 0, _ALLOW)


def _refuse(code: int) -> Instruction:
    return (_RETURN, 0, 0, _ERRNO | code)


def _if(test: int, value: int, code: int) -> list[Instruction]:
    return [(test, 0, 1, value), _refuse(code)]


def _on(number: int, argument: int, body: list[Instruction]) -> list[Instruction]:
    """Return a body that decides by one argument of one system call."""
    inner = [_load(_ARGUMENTS_AT + 8 * argument), *body]
    return [(_EQUAL, 0, len(inner), number), *inner]


def _allow_only(values: tuple[int, ...]) -> Iterator[Instruction]:
    for value in values:
        yield from ((_EQUAL, 0, 1, value), _allow())
    yield _refuse(errno.EPERM)
