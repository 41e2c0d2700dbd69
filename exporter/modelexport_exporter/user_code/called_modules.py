"""The Python modules whose functions run while a model is called, of libraries too.

`modules_of` knows those of a model's classes. What forward calls elsewhere, `kornia.geometry` or a
module that it imports itself, computes with sizes, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType

_COMPUTE_NO_SIZES = frozenset({"torch", "numpy", "sympy", "modelexport_exporter", "builtins"})


def modules_called(call: Callable[[], object]) -> list[ModuleType]:
    """Return the modules of the functions that a call runs, if they use torch and are not its own.

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
    found = (sys.modules[name] for name in names if name in sys.modules)
    return [module for module in found if _may_compute_sizes(module)]


def _may_compute_sizes(module: ModuleType) -> bool:
    """Return whether a module has something of torch: what logs or tests has not."""
    package = module.__name__.partition(".")[0]
    if package in _COMPUTE_NO_SIZES or package in sys.stdlib_module_names:
        return False
    return any(map(_is_of_torch, list(vars(module).values())))


def _is_of_torch(value: object) -> bool:
    if isinstance(value, ModuleType):
        owner: object = value.__name__
    else:
        own = type(value) in {type, FunctionType, BuiltinFunctionType}
        owner = vars(type(value)).get("__module__") if not own else getattr(value, "__module__", "")
    return str(owner).partition(".")[0] == "torch"
