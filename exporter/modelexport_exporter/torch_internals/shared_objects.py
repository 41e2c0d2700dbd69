"""torch's shared objects, loaded by a thread while Python imports what does not need them.

Loading them takes 0.4 s, most of it relocations of CUDA's, and holds no lock of Python's; `import
torch` then finds them loaded. The names are those that `import torch` loads itself, in its order.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

DEPENDENCIES = "libtorch_global_deps.so"
"""Loaded with its symbols for all, as by torch."""
EXTENSION = "libtorch_python.so"


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Load them while the block runs. A thread does, which has ended when the block has."""
    spec = importlib.util.find_spec("torch")
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        yield
        return
    thread = Thread(target=_load, args=(Path(places[0]) / "lib",))
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _load(directory: Path) -> None:
    with contextlib.suppress(OSError):  # torch has them elsewhere: it loads them itself
        ctypes.CDLL(str(directory / DEPENDENCIES), mode=ctypes.RTLD_GLOBAL)
        ctypes.CDLL(str(directory / EXTENSION))
