"""The model's code where it is on this machine: its files by name, of a directory or a zip file."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_DEPTH = 4
_SKIPPED = {"__pycache__", "node_modules", "site-packages"}
_LIBRARIES = (".so", ".pyd", ".pyc")


@dataclass(frozen=True)
class Code:
    """Python code: a directory, or a zip file."""

    path: Path
    files: frozenset[str]
    """Relative paths, of four directories at most."""

    @property
    def top(self) -> list[str]:
        """Return the names at its root, without suffixes, in order."""
        parts = {PurePosixPath(name).parts[0] for name in self.files}
        return sorted({name.partition(".")[0] for name in parts if not name.startswith(".")})

    def module_file(self, module: str) -> str | None:
        """Return the text of a module, by its name; None if it has none."""
        path = module.replace(".", "/")
        candidates = (f"{path}/__init__.py", f"{path}.py")
        return next((name for name in candidates if name in self.files), None)

    def may_hold(self, module: str) -> bool:
        """Return whether a module may be found in these files, as text, binary or directory."""
        path = module.replace(".", "/")
        if module.count(".") >= _DEPTH or self.module_file(module) is not None:
            return True
        return any(
            name.startswith(f"{path}/")
            or (name.startswith(f"{path}.") and name.endswith(_LIBRARIES))
            for name in self.files
        )

    def read(self, name: str) -> bytes:
        """Return the content of a file. Raises OSError."""
        if self.path.is_dir():
            return (self.path / name).read_bytes()
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(name)


def code_at(path: Path) -> Code:
    """Return the code in a directory or a zip file. Raises OSError or BadZipFile."""
    if not path.is_dir():
        with zipfile.ZipFile(path) as archive:
            names = [member.filename for member in archive.infolist() if not member.is_dir()]
        return Code(path, frozenset(names))
    found: set[str] = set()
    _list(path, "", found, _DEPTH)
    return Code(path, frozenset(found))


def _list(directory: Path, prefix: str, found: set[str], depth: int) -> None:
    for entry in directory.iterdir():
        if entry.is_file():
            found.add(prefix + entry.name)
        elif depth and entry.is_dir() and not (entry.name in _SKIPPED or entry.name[0] == "."):
            _list(entry, f"{prefix}{entry.name}/", found, depth - 1)
