"""Make the registry's torch for Linux run without CUDA.

    python without_cuda.py SITE_PACKAGES

The registry of Python packages has torch for Linux with CUDA only: 0.5 GB of GPU kernels in
libtorch_cuda.so, and 4 GB of NVIDIA's libraries, without which `import torch` fails even where
there is no GPU. What computes on a CPU is in other files (libtorch_cpu.so), which stay as they are.
This program removes the GPU's part and writes a small library in place of each one that is missing.
It answers like a machine without a GPU: calls of CUDA's C API fail with cudaErrorNoDevice, and a
C++ function of libtorch_cuda, which nothing reaches without a GPU, ends the process with a message.

Runs while the image is built, with ziglang (a C compiler) and pyelftools.
"""

from __future__ import annotations

import py_compile
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection

GPU_PART = (
    *("libtorch_cuda.so", "libtorch_cuda_linalg.so", "libtorch_nvshmem.so"),
    "libcaffe2_nvrtc.so",
)
KERNELS = "libtorch_cuda.so"
VENDOR = ("libcu", "libnv")
"""How the names of NVIDIA's libraries begin."""
C_API = ("cuda", "__cuda", "cupti", "cuFile", "cudnn")
"""How the names of their functions begin."""
NO_DEVICE = 100
"""cudaErrorNoDevice; to the other libraries it is an error, too."""
VARIABLE = "_ZN4c10d15get_gil_checkerEv"
"""Called when torch is imported: returns a reference to a variable, in which torch writes."""
OPTIONS = "_ZN4c10d16ProcessGroupNCCL7Options"
"""NCCL's options, created when torch is imported as the default of an argument, and never read."""
PACKAGES = ("torch", "torchvision", "torchvision.libs")
STATEMENTS = {
    "version.py": ("cuda: Optional[str] = '", "cuda: Optional[str] = None  # '"),
    "backends/cuda/__init__.py": ("return torch._C._has_cuda", "return False"),
}
"""What torch states about itself: the file, its text, and the text of a build without CUDA."""
DEVELOPMENT = ("include", "share")
"""For compilers, of which the image has none."""

HEAD = """
extern void abort(void);
extern long write(int, const void *, unsigned long);
extern void *_ZTVN10__cxxabiv117__class_type_infoE[];
extern unsigned long malloc_usable_size(const void *);
extern void *memset(void *, int, unsigned long);
struct type_info { void **vtable; const char *name; };
static void missing(const char *function, unsigned long length) {
  static const char reason[] = "this image has no CUDA, but torch called ";
  write(2, reason, sizeof reason - 1);
  write(2, function, length);
  write(2, "\\n", 1);
  abort();
}
static void create(void **object, void **vtable) {
  memset(object, 0, malloc_usable_size(object));
  *object = vtable;
}
"""


def main(site_packages: Path) -> None:
    """Remove the GPU's part of torch below SITE_PACKAGES and write what replaces it."""
    directory = site_packages / "torch" / "lib"
    replaced: dict[str, str] = {}
    for name in GPU_PART:
        replaced |= defined(directory / name)
        (directory / name).unlink()
    libraries = [path for name in PACKAGES for path in (site_packages / name).rglob("*.so*")]
    present = {path.name for path in libraries}
    names = {name for path in libraries for name in needed(path)} - present
    vendor = sorted(name for name in names if name.startswith(VENDOR))
    there = {symbol for path in libraries for symbol in defined(path)}
    symbols = sorted({symbol for path in libraries for symbol in undefined(path)})
    for name in vendor:
        versions = {pair for path in libraries for pair in versions_of(path, name)}
        compile_library("".join(c_functions(symbols)), directory / name, version_script(versions))
    kernels = definitions((symbol for symbol in symbols if symbol not in there), replaced)
    compile_library(HEAD + "".join(kernels), directory / KERNELS)
    state_no_cuda(site_packages / "torch")
    for name in DEVELOPMENT:
        shutil.rmtree(site_packages / "torch" / name, ignore_errors=True)
    sys.stdout.write(f"without CUDA: {', '.join([*vendor, KERNELS])} replaced\n")


def c_functions(symbols: Iterable[str]) -> Iterator[str]:
    """Return a definition in C for each symbol that is a function of CUDA's C API."""
    for symbol in symbols:
        if symbol in {"cudaGetErrorString", "cudaGetErrorName"}:
            yield f'const char *{symbol}(int error) {{ return "no CUDA device"; }}\n'
        elif symbol.startswith(C_API):
            yield f"unsigned long {symbol}(void) {{ return {NO_DEVICE}; }}\n"


def definitions(symbols: Iterable[str], replaced: dict[str, str]) -> Iterator[str]:
    """Return a definition in C for each symbol that is in REPLACED."""
    for symbol in symbols:
        if symbol not in replaced:
            continue
        if symbol.startswith("_ZTI"):
            # pybind11 reads the name of a type when it registers a class.
            value = f'{{&_ZTVN10__cxxabiv117__class_type_infoE[2], "{symbol[4:]}"}}'
            yield f"const struct type_info {symbol} = {value};\n"
        elif symbol.startswith("_ZTV"):
            yield f"void *{symbol}[256];\n"
        elif symbol == VARIABLE:
            yield f"void *{symbol}(void) {{ static void *variable; return &variable; }}\n"
        elif symbol == f"{OPTIONS}C1Eb":
            vtable = f"_ZTV{OPTIONS.removeprefix('_Z')}E"
            yield f"extern void *{vtable}[];\n"
            yield f"void {symbol}(void **options) {{ create(options, &{vtable}[2]); }}\n"
        elif replaced[symbol] == "STT_FUNC":
            yield f'void {symbol}(void) {{ missing("{symbol}", {len(symbol)}); }}\n'
        else:
            raise SystemExit(f"without CUDA: no replacement for {symbol}, which is data")


def state_no_cuda(torch: Path) -> None:
    """Let the package state that it has no CUDA, by which it decides what to register."""
    for name, (before, after) in STATEMENTS.items():
        path = torch / name
        text = path.read_text()
        if text.count(before) != 1:
            raise SystemExit(f"without CUDA: {path} does not have {before!r} once")
        path.unlink()
        path.write_text(text.replace(before, after))
        py_compile.compile(str(path), doraise=True)


def version_script(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a linker script that gives each symbol its version, from pairs of both."""
    by_version: dict[str, list[str]] = {}
    for symbol, version in sorted(pairs):
        by_version.setdefault(version, []).append(symbol)
    return "".join(
        f"{version} {{ {' '.join(f'{symbol};' for symbol in symbols)} }};\n"
        for version, symbols in by_version.items()
    )


def compile_library(source: str, target: Path, versions: str = "") -> None:
    """Compile SOURCE to the shared library TARGET; VERSIONS is a linker script."""
    with tempfile.TemporaryDirectory() as scratch:
        script = Path(scratch) / "versions"
        script.write_text(versions)
        command = [sys.executable, "-m", "ziglang", "cc", "-x", "c", "-", "-shared", "-fPIC"]
        flags = ["-Os", "-w", "-nostdlib", "-Wl,-z,undefs", "-Wl,-s", "-o", str(target)]
        flags += [f"-Wl,--version-script={script}"] if versions else []
        subprocess.run([*command, *flags], input=source, text=True, check=True)  # noqa: S603


def needed(path: Path) -> list[str]:
    """Return the libraries that PATH is linked with."""
    with path.open("rb") as file:
        sections = ELFFile(file).iter_sections()
        found = [section for section in sections if isinstance(section, DynamicSection)]
        return [tag.needed for section in found for tag in section.iter_tags("DT_NEEDED")]


def defined(path: Path) -> dict[str, str]:
    """Return the symbols that PATH defines, each with its type."""
    return {name: kind for name, kind, where, _ in symbols_of(path) if where != "SHN_UNDEF"}


def undefined(path: Path) -> set[str]:
    """Return the symbols that PATH expects of other libraries."""
    return {name for name, _, where, _ in symbols_of(path) if where == "SHN_UNDEF"}


def versions_of(path: Path, library: str) -> list[tuple[str, str]]:
    """Return the symbols that PATH expects of LIBRARY in a certain version, and the version."""
    with path.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".gnu.version_r")
        entries = section.iter_versions() if isinstance(section, GNUVerNeedSection) else ()
        names = {
            auxiliary["vna_other"]: auxiliary.name
            for entry, auxiliaries in entries
            for auxiliary in auxiliaries
            if entry.name == library
        }
    symbols = symbols_of(path)
    return [(name, names[version]) for name, _, _, version in symbols if version in names]


@cache
def symbols_of(path: Path) -> list[tuple[str, str, str, int | str]]:
    """Return name, type, section and index of the version of each dynamic symbol."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        table, versions = map(elf.get_section_by_name, (".dynsym", ".gnu.version"))
        if not isinstance(table, SymbolTableSection):
            return []
        indices = [entry["ndx"] for entry in versions.iter_symbols()] if versions else None
        return [
            (
                symbol.name,
                symbol["st_info"]["type"],
                str(symbol["st_shndx"]),
                indices[place] if indices else 0,
            )
            for place, symbol in enumerate(table.iter_symbols())
        ]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
