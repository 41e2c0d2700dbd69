"""Bytecode of what workers import: they are in a sandbox, and can write none.

pip and our images compile what they install. uv does not, and an editable checkout has none: there,
each worker of each export would compile what it imports again, 1.3 s of a small export's 12.5 s.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import cache_from_source, find_spec
from pathlib import Path

from modelexport_exporter.core.environment import without_secrets

PACKAGES = (
    "modelexport_api",
    "modelexport_exporter",
    "onnx",
    "onnx_ir",
    "onnxruntime",
    "onnxscript",
)
"""What is imported by workers. The fork server, in no sandbox, writes that of torch."""


_TAG = sys.implementation.cache_tag


def compile_in_background(packages: Sequence[str] = PACKAGES) -> subprocess.Popen[bytes] | None:
    """Compile the packages that lack bytecode, in a process; return it, or None if none does.

    It takes 3 s at most, while another CPU imports torch. Files appear at once, and whole.
    """
    if sys.dont_write_bytecode:
        return None
    lacking = [directory for package in packages for directory in _directories(package)]
    lacking = [path for path in lacking if os.access(path, os.W_OK) and _lacks_bytecode(path)]
    if not lacking:
        return None
    prefix = [f"-Xpycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else []
    command = [sys.executable, "-I", *prefix, "-m", "compileall", "-q", *map(str, lacking)]
    nothing = subprocess.DEVNULL
    with without_secrets():  # user code could read them in /proc
        return subprocess.Popen(  # noqa: S603 - this Python, and its own folders
            command, stdin=nothing, stdout=nothing, stderr=nothing
        )


def _directories(package: str) -> Iterator[Path]:
    spec = find_spec(package)
    if spec is not None:
        yield from map(Path, spec.submodule_search_locations or ())


def _lacks_bytecode(package: Path) -> bool:
    """Return whether a source is newer than its bytecode, or has none."""
    folders = [str(package)]
    while folders:
        folder = folders.pop()
        sources: dict[str, float] = {}
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    sources[entry.name] = entry.stat().st_mtime
                elif entry.is_dir() and entry.name != "__pycache__":
                    folders.append(entry.path)
        if not sources:
            continue
        compiled = _modification_times(Path(cache_from_source(f"{folder}/_.py")).parent)
        for name, modified in sources.items():
            if compiled.get(f"{name[:-3]}.{_TAG}.pyc", -1.0) < modified:
                return True
    return False


def _modification_times(folder: Path) -> dict[str, float]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name: entry.stat().st_mtime for entry in entries}
    except FileNotFoundError:
        return {}
