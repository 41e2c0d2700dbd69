"""Make bytecode independent of when an image is built.

    python bytecode.py DIRECTORY…

Python's bytecode carries the time of its source, by which an import decides whether it still fits.
In an image all files get the time of the commit, so nothing would fit, and each start would compile
everything again: the root file system is read-only. This program compiles what has bytecode once
more, in order, as bytecode that is not compared with its source (PEP 552, unchecked-hash).

Runs while the image is built. Whoever changes a source in an image of their own runs it again.
"""

from __future__ import annotations

import importlib.util
import py_compile
import sys
from pathlib import Path


def main(directories: list[Path]) -> None:
    """Compile what has bytecode below DIRECTORIES."""
    for directory in directories:
        for bytecode in sorted(directory.rglob(f"*.{sys.implementation.cache_tag}.pyc")):
            source = importlib.util.source_from_cache(str(bytecode))
            py_compile.compile(
                source,
                cfile=str(bytecode),
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
