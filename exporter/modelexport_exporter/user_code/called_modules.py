"""The Python modules whose functions run while a model is called, of libraries too.

`modules_of` knows those of a model's classes. What forward calls elsewhere, `kornia.geometry` or a
module that it imports itself, computes with sizes, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, ModuleType

_COMPUTE_NO_SIZES = frozenset({"torch", "numpy", "sympy", "modelexport_exporter", "builtins"})


def modules_called(call: Callable[[], object]) -> list[ModuleType]:
    """Return the modules of the functions that a call runs, without those of torch and of Python.

    What the call raises is left out: so far the modules are known.
    """
    names: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            names[frame.f_globals.get("__name__", "")] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        with suppress(Exception):  # forward is the user's code
            call()
    finally:
        sys.setprofile(before)
    return [
        sys.modules[name]
        for name in names
        if name in sys.modules
        and name.partition(".")[0] not in _COMPUTE_NO_SIZES | sys.stdlib_module_names
    ]
