"""Which NVIDIA GPUs this process sees, their driver and the libraries of CUDA.

Read from the files of the driver, which a container has for its own GPUs: the supervisor imports
no library of CUDA. There are none on WSL and on Jetson.
"""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc/driver/nvidia")
_MODEL = re.compile(r"^Model:\s*(.+?)\s*$", re.MULTILINE)
_DRIVER = re.compile(r"^NVRM version:.*?\s(\d+(?:\.\d+)+)\s", re.MULTILINE)
_LIBRARIES = re.compile(r"nvidia-(cublas|cudnn|cuda-runtime)(-cu\d+)?|tensorrt(-cu\d+)?")
"""The distributions that compute, or decide which kernels there are."""


@dataclass(frozen=True)
class Gpus:
    """The GPUs of a machine or a container."""

    models: tuple[str, ...] = ()
    """`NVIDIA H200`, one entry for each GPU."""
    driver: str = ""
    """`580.159.04`"""
    libraries: tuple[tuple[str, str], ...] = ()
    """Names and versions of installed distributions."""


def find_gpus(proc: Path = PROC) -> Gpus:
    """Return what the driver states; without GPUs nothing."""
    texts = [_read(path) for path in sorted(proc.glob("gpus/*/information"))]
    models = tuple(found[1] for text in texts if (found := _MODEL.search(text)))
    if not models:
        return Gpus()
    driver = _DRIVER.search(_read(proc / "version"))
    return Gpus(models, driver[1] if driver else "", _libraries())


def _libraries() -> tuple[tuple[str, str], ...]:
    found = {
        name: distribution.version
        for distribution in importlib.metadata.distributions()
        if (name := distribution.metadata["Name"] or "") and _LIBRARIES.fullmatch(name)
    }
    return tuple(sorted(found.items()))


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")[:4096]
    except OSError:
        return ""
