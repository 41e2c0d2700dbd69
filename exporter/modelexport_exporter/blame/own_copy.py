"""A file in a directory where variants of it can be written: its own, or that of a copy."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def beside_variants(path: Path) -> Iterator[Path]:
    """Yield the path of the file, or of a copy where its directory cannot be written.

    External data lies beside the file, and is copied with it.
    """
    if _is_writable(path.parent):
        yield path
        return
    with tempfile.TemporaryDirectory() as directory:
        copied = Path(directory, "copy")
        shutil.copytree(path.parent, copied)
        yield copied / path.name


def _is_writable(directory: Path) -> bool:
    try:
        tempfile.TemporaryFile(dir=directory).close()  # what the sandbox says, os.access does not
    except OSError:
        return False
    return True
