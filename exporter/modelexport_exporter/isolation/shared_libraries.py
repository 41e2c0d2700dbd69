"""Libraries of the user's code, imported once in the process that workers are forked from.

A library that starts a thread or opens CUDA there would break its forks, and one that fails may
leave half of itself behind: the process then begins again without them, and each worker imports its
own. What the imports print goes to the workers' output, as if they had imported them.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LIBRARIES_ENV = "MODELEXPORT_SHARED_LIBRARIES"
"""Set for the fork server alone: the named pipe from which it reads them when it gets there."""
_NVML_ENV = "PYTORCH_NVML_BASED_CUDA_CHECK"
_SELF = Path("/proc/self")
_CUDA = Path("/dev/nvidia-uvm")
"""The device that CUDA opens; asking how many GPUs there are opens others."""

_MOST_BYTES = 1 << 14
"""Of a list that a pipe takes before it is read."""

printed = b""
"""What the imports printed."""


@dataclass(frozen=True)
class LibraryImport:
    """`from module import names`; `import module` without names."""

    module: str
    names: tuple[str, ...] = ()


def encode(libraries: Sequence[LibraryImport]) -> bytes:
    """Return the line that names them; none if it would be too long."""
    found = json.dumps([[entry.module, list(entry.names)] for entry in libraries]).encode()
    return (found if len(found) < _MOST_BYTES else b"[]") + b"\n"


def import_shared_libraries() -> None:
    """Import what the supervisor names. Only where this process is the fork server."""
    global printed  # noqa: PLW0603 - the state of this process
    libraries = _read(os.environ.pop(LIBRARIES_ENV, ""))
    if not libraries:
        return
    threads = _threads()
    # In memory: a pod may write into its volumes only.
    with os.fdopen(os.memfd_create("imports"), "w+b") as output:
        with _redirected(output.fileno()), _asking_the_driver_alone():
            imported = all(_import(module, names) for module, names in libraries)
        output.seek(0)
        printed = output.read()
    if not imported or _threads() > threads or _has_opened_cuda():
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - itself


def _read(path: str) -> list[tuple[str, list[str]]]:
    """Return what comes through the pipe, when it comes."""
    if not path:
        return []
    with Path(path).open("rb") as pipe:
        line = pipe.readline()
    found: list[tuple[str, list[str]]] = json.loads(line or b"[]")
    return found


def print_again() -> None:
    """Write what the imports printed to this process's output."""
    if printed:
        os.write(1, printed)


def _import(module: str, names: Sequence[str]) -> bool:
    """Return whether the module was imported. Why not, the worker reports, with the user's line."""
    try:
        found = importlib.import_module(module)
        for name in names:
            if not hasattr(found, name):
                importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError as error:
        # Nothing of it ran, or all of it: a name that it has not.
        return str(error.name or "").startswith(module)
    except BaseException:  # noqa: BLE001 - libraries do anything
        return False
    return True


@contextlib.contextmanager
def _asking_the_driver_alone() -> Iterator[None]:
    """Let torch.cuda.is_available, which libraries call when they are imported, not open CUDA.

    It asks the driver's library for management (NVML) in place of CUDA, which survives a fork.
    """
    if _NVML_ENV in os.environ:
        yield
        return
    os.environ[_NVML_ENV] = "1"
    try:
        yield
    finally:
        os.environ.pop(_NVML_ENV, None)


@contextlib.contextmanager
def _redirected(target: int) -> Iterator[None]:
    """Let this process's output, that of C as well, go to a file while the block runs."""
    kept = [os.dup(descriptor) for descriptor in (1, 2)]
    try:
        for descriptor in (1, 2):
            os.dup2(target, descriptor)
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for descriptor, own in zip((1, 2), kept, strict=True):
            os.dup2(own, descriptor)
            os.close(own)


def _threads() -> int:
    return len(list(_SELF.joinpath("task").iterdir())) if sys.platform == "linux" else 1


def _has_opened_cuda() -> bool:
    if sys.platform != "linux":
        return False
    for descriptor in _SELF.joinpath("fd").iterdir():
        with contextlib.suppress(OSError):  # that of the list itself
            if descriptor.readlink() == _CUDA:
                return True
    return False
