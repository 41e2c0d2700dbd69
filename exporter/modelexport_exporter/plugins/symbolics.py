"""Symbolic functions: what plugins and models change in torch's registry, and how it is used.

Guarantees that a user's symbolic function wins over torch's own at the opset of the export, however
it got there (`register_custom_op_symbolic`, `symbolic_registry.register_op`, or an attribute set on
a `torch.onnx.symbolic_opset<N>` module), and that it is called as its author expected.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

from modelexport_exporter.plugins.legacy.symbolic_call import call_as_written
from modelexport_exporter.plugins.used_functions import UsedFunctions, note_used_functions
from modelexport_exporter.torch_internals.symbolics import (
    Key,
    Symbolic,
    custom_symbolics,
    import_symbolics,
    register_symbolics,
    select_opset,
    symbolic_modules,
)

_LIBRARIES = ("torch", "torchvision", "torchaudio", "onnxscript")
"""Packages that register symbolic functions of their own when they are imported."""


@dataclass(frozen=True)
class Chosen:
    """The user's symbolic functions, as they apply at one opset."""

    functions: Mapping[str, Symbolic]
    too_new: Mapping[str, int]
    """Operators whose symbolic functions are registered only for later opsets: the lowest."""


class SymbolicWatch:
    """Sees what changes in torch's registry and symbolic modules after it was made."""

    def __init__(self) -> None:
        import_symbolics()
        self._modules = [
            (version, dict(vars(module)), module) for version, module in symbolic_modules()
        ]
        self._overrides = custom_symbolics()

    def changes(self) -> dict[Key, Symbolic]:
        """Return every symbolic function of the user's, by operator and opset."""
        found: dict[Key, Symbolic] = {}
        for version, before, module in self._modules:
            for name, value in vars(module).items():
                if before.get(name) is not value and _is_function(value):
                    found[_operator_name(name), version] = value
        return found | {
            key: function
            for key, function in custom_symbolics().items()
            if self._overrides.get(key) is not function and not _is_librarys(function)
        }


def choose(changes: Mapping[Key, Symbolic], opset: int) -> Chosen:
    """Return, by operator, the function that torch's rule picks among the user's own."""
    versions: dict[str, list[int]] = {}
    for name, version in changes:
        versions.setdefault(name, []).append(version)
    functions: dict[str, Symbolic] = {}
    too_new: dict[str, int] = {}
    for name, offered in versions.items():
        nearest = select_opset(opset, offered)
        if nearest is None:
            too_new[name] = min(offered)
        else:
            functions[name] = changes[name, nearest]
    return Chosen(functions, too_new)


@contextmanager
def register_chosen(chosen: Chosen, opset: int) -> Iterator[UsedFunctions]:
    """Let the user's symbolic functions win while the block runs."""
    adapted = {name: call_as_written(function) for name, function in chosen.functions.items()}
    with register_symbolics(adapted, opset), note_used_functions() as used:
        yield used


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, type | ModuleType)


def _is_librarys(function: Symbolic) -> bool:
    package = str(getattr(function, "__module__", "")).partition(".")[0]
    return package in _LIBRARIES and package in sys.modules


def _operator_name(name: str) -> str:
    """Return the operator that a function of a symbolic module translates."""
    if name.startswith("prim_"):
        return f"prim::{name.removeprefix('prim_')}"
    return f"aten::{name}"
