"""Stand-ins for classes in a checkpoint that an export does not need: they only hold data.

Training loops save their arguments with the weights: a Namespace, a config object of some
library. Guarantees that such an object is built from a class made here, never from the one that
the checkpoint names, that no module is imported for it, and that what could be meant to run
(anything of the standard library that is no plain data) is refused and not replaced.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any

_HARMLESS = (
    "argparse.Namespace",
    "collections.",
    "copyreg._reconstructor",
    "copy_reg._reconstructor",
    "_codecs.encode",
    "datetime.",
    "decimal.Decimal",
    "enum.",
    "fractions.Fraction",
    "ipaddress.",
    "pathlib.",
    "types.SimpleNamespace",
    "typing.",
    "uuid.",
    "zoneinfo.",
)
# fmt: off
_HARMLESS_BUILTINS = frozenset((
    "bytearray", "bytes", "complex", "dict", "frozenset", "int", "float", "bool", "str", "list",
    "tuple", "object", "range", "set", "slice", "NoneType",
))
# fmt: on
_BUILTINS = ("builtins", "__builtin__")


class Inert:
    """The base of all stand-ins; holds the state that the checkpoint gives it."""

    def __init__(self, *args: object) -> None:
        self.args = args

    def __new__(cls, *_args: object) -> Any:  # noqa: ANN401
        """Take any arguments, as the real constructor may."""
        return super().__new__(cls)


def could_be_meant_to_run(name: str) -> bool:
    """Return whether a global of a pickle is more than a class of plain data or of a library."""
    module, _, attribute = name.rpartition(".")
    if module in {"", *_BUILTINS}:
        return attribute not in _HARMLESS_BUILTINS
    if name.startswith(_HARMLESS):
        return False
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in {"copy_reg", "commands"}


def stand_in(name: str, container: type | None = None) -> type[Inert]:
    """Return a class for the global; with `container` its objects are plain dicts or lists."""
    if container is None:
        return type(name, (Inert,), {})

    def new(_cls: type, *_args: object) -> object:
        return OrderedDict() if container is dict else []

    return type(name, (Inert,), {"__new__": new})


def class_name(value: Inert) -> str:
    """Return the class that the checkpoint names."""
    return type(value).__name__
