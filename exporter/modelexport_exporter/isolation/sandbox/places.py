"""Which paths a worker may use: pure decisions; the file system is asked through `Children`.

Landlock can only allow. So that images and workstations go on working with data anywhere, a worker
may read everything but what is hidden: a directory with something hidden inside is not allowed as
a whole, but entry by entry. What appears in it later is not readable either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from modelexport_exporter.core.locked_directory import PREFIX as RUN_DIRECTORY

Children = Callable[[Path], Iterable[Path]]
"""Returns the entries of a directory that are no links; none where it cannot be read."""


class Access(Enum):
    """What a worker may do with a path and all below it."""

    LIST = "list"
    """See the names of files."""
    READ = "read"
    """Read and execute."""
    WRITE = "write"
    """Read what there is, and write to it."""
    OWN = "own"
    """Anything but making devices."""
    DEVICE = "device"
    """Read, write and control."""


@dataclass(frozen=True)
class Grant:
    """What a worker may do with one path."""

    path: Path
    access: Access


_PROC, _DEV = Path("/proc"), Path("/dev")
_KERNEL_MEMORY = frozenset({"kcore", "kmsg", "keys", "key-users", "sysrq-trigger", "kallsyms"})
_DEVICES = ("null", "zero", "full", "random", "urandom", "infiniband")
_GPUS = ("nvidia", "nvhost", "nvmap", "nvgpu", "dxg", "kfd", "dri")
"""The beginnings of the names of GPUs: NVIDIA's, those of Jetson, of WSL and of AMD."""

HUGGING_FACE = ("hub", "modules", "assets", "xet", "datasets")
"""What libraries write below HF_HOME; its tokens are files next to these."""


def caches(environment: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Return the caches that libraries of models write: downloads and compiled kernels."""
    cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    hugging_face = Path(environment.get("HF_HOME") or cache / "huggingface")
    return (
        *(hugging_face / name for name in HUGGING_FACE),
        Path(environment.get("TORCH_HOME") or cache / "torch"),
        Path(environment.get("MPLCONFIGDIR") or cache / "matplotlib"),
        Path(environment.get("TRITON_CACHE_DIR") or home / ".triton"),
        Path(environment.get("CUDA_CACHE_PATH") or home / ".nv"),
    )


def grants(
    hidden: frozenset[Path], own: Iterable[Path], readable: Iterable[Path], children: Children
) -> Iterator[Grant]:
    """Yield what a worker may use.

    `hidden`: without links. `own`: directories that it may write, also where they are hidden.
    `readable`: what it may read, also where it is hidden.
    """
    root = Path("/")
    yield Grant(root, Access.LIST)
    for path in visible(root, hidden | {_PROC, _DEV}, children):
        yield Grant(path, Access.READ)
    yield from (Grant(path, Access.READ) for path in children(_PROC) if _is_of_the_system(path))
    yield Grant(_PROC / "self", Access.READ)
    yield Grant(_DEV / "shm", Access.OWN)
    devices = list(children(_DEV))
    for path in devices:
        if path.name in _DEVICES or path.name.startswith(_GPUS):
            yield Grant(path, Access.DEVICE)
    if any(path.name.startswith(_GPUS) for path in devices):
        # CUDA names its threads in task/*/comm; cuInit fails with error 304 where it cannot.
        yield Grant(_PROC / "self" / "task", Access.WRITE)
    yield from (Grant(path, Access.OWN) for path in own)
    yield from (Grant(path, Access.READ) for path in readable)


def visible(root: Path, hidden: frozenset[Path], children: Children) -> Iterator[Path]:
    """Yield the paths that together hold all below a directory but what is hidden."""
    above = {parent for path in hidden for parent in path.parents}

    def below(path: Path) -> Iterator[Path]:
        if path in hidden or path.name.startswith(RUN_DIRECTORY):
            return
        if path not in above:
            yield path
            return
        for child in children(path):
            yield from below(child)

    return below(root)


def _is_of_the_system(path: Path) -> bool:
    """Return whether an entry of /proc is of no process, and none of the kernel's memory."""
    return not path.name.isdigit() and path.name not in _KERNEL_MEMORY
