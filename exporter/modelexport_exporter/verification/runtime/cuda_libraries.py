"""Checks without a GPU whether onnxruntime finds the CUDA libraries that it needs.

onnxruntime's CUDA provider is a shared library that links to cuBLAS, cuRAND, the CUDA runtime and
more, and opens cuDNN, cuFFT and NVRTC when an operator first needs them. Where one is missing,
onnxruntime logs a line and runs the model on the CPU. An image without a CUDA base gets them from
Python packages, through `onnxruntime.preload_dlls()`.

`python -m modelexport_exporter.verification.runtime.cuda_libraries` exits with 1 and the list of
missing libraries. The driver's libcuda.so.1 is not checked: the node provides it, not the image.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import io
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

DRIVER = "libcuda.so.1"
CUDA, TENSORRT = "CUDA", "TensorRT"
TENSORRT_PACKAGE = "tensorrt_libs"
"""The Python package with TensorRT's shared libraries, which the loader does not search."""
OPENED_LATER = ("libcudnn.so", "libcufft.so", "libnvrtc.so")
"""Opened at first use, so not in the dynamic section; the names end with the major version."""

_DT_NEEDED, _DT_STRTAB, _PT_LOAD, _PT_DYNAMIC = 1, 5, 1, 2


def preload() -> str:
    """Load the CUDA libraries of Python packages into this process; return the printed text."""
    import onnxruntime

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        onnxruntime.preload_dlls()
    return printed.getvalue().strip()


def missing_libraries(provider: str = CUDA) -> list[str]:
    """Return the libraries that one of onnxruntime's providers would not find in this process."""
    preload()
    library = provider_library(provider)
    if not library.is_file():
        return [library.name]
    if provider == TENSORRT:
        _preload_tensorrt()
    linked = [name for name in needed_libraries(library.read_bytes()) if name != DRIVER]
    missing = [name for name in linked if not _can_load(name, library.parent)]
    if provider == TENSORRT:
        return missing
    return missing + _list_unmapped(OPENED_LATER, Path("/proc/self/maps").read_text().splitlines())


def provider_library(provider: str = CUDA) -> Path:
    """Return the path of a provider's shared library."""
    import onnxruntime

    name = f"libonnxruntime_providers_{provider.lower()}.so"
    return Path(onnxruntime.__file__).parent / "capi" / name


def _preload_tensorrt() -> None:
    """Load TensorRT's libraries from their Python package, so that the loader knows their names."""
    spec = importlib.util.find_spec(TENSORRT_PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for pattern in ("libnvinfer.so.*", "libnvinfer_plugin.so.*", "libnvonnxparser.so.*"):
            for path in sorted(Path(place).glob(pattern)):
                with contextlib.suppress(OSError):
                    ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def needed_libraries(elf: bytes) -> list[str]:
    """Return the DT_NEEDED entries of a 64-bit little-endian ELF file. Raises ValueError."""
    if elf[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    headers_at = struct.unpack_from("<Q", elf, 32)[0]
    size, count = struct.unpack_from("<HH", elf, 54)
    # p_type, p_flags, p_offset, p_vaddr, p_paddr, p_filesz
    headers = [struct.unpack_from("<IIQQQQ", elf, headers_at + size * i) for i in range(count)]
    segments = [
        (at, address, length) for kind, _, at, address, _, length in headers if kind == _PT_LOAD
    ]
    entries = [
        entry
        for kind, _, at, _, _, length in headers
        if kind == _PT_DYNAMIC
        for entry in struct.iter_unpack("<qQ", elf[at : at + length])
    ]
    strings = next((value for tag, value in entries if tag == _DT_STRTAB), 0)
    table = next(
        (
            at + strings - address
            for at, address, length in segments
            if address <= strings < address + length
        ),
        0,
    )
    return [_string_at(elf, table + value) for tag, value in entries if tag == _DT_NEEDED]


def _string_at(elf: bytes, offset: int) -> str:
    return elf[offset : elf.index(b"\0", offset)].decode()


def _can_load(name: str, directory: Path) -> bool:
    """Return whether a library can be loaded by its name, or from the directory."""
    for candidate in (name, str(directory / name)):
        with contextlib.suppress(OSError):
            ctypes.CDLL(candidate)
            return True
    return False


def _list_unmapped(prefixes: Iterable[str], maps: Iterable[str]) -> list[str]:
    loaded = {Path(line.split()[-1]).name for line in maps if ".so" in line}
    return [prefix for prefix in prefixes if not any(name.startswith(prefix) for name in loaded)]


def main() -> int:
    """Print the missing libraries; return the exit code."""
    missing = missing_libraries()
    if missing:
        sys.stderr.write(
            f"onnxruntime cannot run on CUDA here: {', '.join(missing)} not found\n"
            "Install onnxruntime-gpu[cuda,cudnn], in the version that torch was built for.\n"
        )
        return 1
    sys.stdout.write("onnxruntime finds every CUDA library but the node's driver\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
