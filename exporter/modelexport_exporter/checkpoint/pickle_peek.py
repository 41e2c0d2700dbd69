"""What a pickle holds, read from its opcodes without building any object.

Guarantees that the decision "this is a whole pickled module" is taken before anything is
unpickled, so that it can be refused with a sentence that says so.
"""

from __future__ import annotations

import pickletools
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from modelexport_exporter.core.archives import open_archive

_PLAIN_DICTS = ("collections OrderedDict", "builtins dict", "__builtin__ dict")
_TENSORS = "torch._utils "
_LIGHTNING_KEY = b"pytorch-lightning_version"
_LEGACY_PREAMBLE = 3
"""Pickles before the object in a file from before the zip format: magic, protocol, machine."""
_SCANNED = 64
_BLOCK_BYTES = 1 << 20
_SKIPPED = frozenset(("PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "PUT", "MARK"))


def top_class_in_zip(path: Path) -> str:
    """Return the class of the object that torch.save wrote, empty for a plain dict."""
    with open_archive(path) as archive, archive.open(_data_pickle(archive)) as data:
        return _top_class(data)  # type: ignore[arg-type]


def top_class_in_legacy_file(path: Path) -> str:
    """Return the same for a file from before the zip format."""
    with path.open("rb") as file:
        try:
            for _ in range(_LEGACY_PREAMBLE):
                for _ in pickletools.genops(file):
                    pass
        except ValueError:
            return ""  # cut off: loading says so
        return _top_class(file)


def is_lightning(path: Path) -> bool:
    """Return whether the object is a checkpoint of PyTorch Lightning, by the key of its version."""
    with open_archive(path) as archive:
        info = archive.getinfo(_data_pickle(archive))
        with archive.open(info) as data:
            # Short of the last byte: torch can be set to write no checksums.
            return _contains(data, _LIGHTNING_KEY, info.file_size - 1)


def _contains(data: IO[bytes], key: bytes, size: int) -> bool:
    """Return whether the first bytes contain a key, which two blocks may share."""
    before = b""
    while size > 0 and (block := data.read(min(size, _BLOCK_BYTES))):
        if key in before + block:
            return True
        before = block[-len(key) :]
        size -= len(block)
    return False


def _data_pickle(archive: zipfile.ZipFile) -> str:
    return next(name for name in archive.namelist() if name.partition("/")[2] == "data.pkl")


def _top_class(data: BinaryIO) -> str:
    """Return the class that the first value is built from: `package.module.Class`."""
    texts: list[str] = []
    try:
        for name, argument in _opcodes(data):
            if name in {"GLOBAL", "STACK_GLOBAL"}:
                full = str(argument) if name == "GLOBAL" else " ".join(texts[-2:])
                plain = full in _PLAIN_DICTS or full.startswith(_TENSORS)
                return "" if plain else full.replace(" ", ".", 1)
            if not isinstance(argument, str) or "UNICODE" not in name:
                return ""  # a dict, a list, a number
            texts.append(argument)
    except ValueError:
        pass  # cut off or no pickle: loading says so
    return ""


def _opcodes(data: BinaryIO) -> Iterator[tuple[str, object]]:
    for number, (opcode, argument, _) in enumerate(pickletools.genops(data)):
        if number > _SCANNED:
            return
        if opcode.name not in _SKIPPED:
            yield opcode.name, argument
