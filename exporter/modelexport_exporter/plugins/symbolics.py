"""Symbolic functions: what plugins and models change in torch's registry, and how it is used.

Guarantees that a user's symbolic function wins over torch's own at the opset of the export, however
it got there (`register_custom_op_symbolic`, `symbolic_registry.register_op`, or an attribute set on
a `torch.onnx.symbolic_opset<N>` module), and that it is called as its author expected.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from torch.onnx._internal.torchscript_exporter import registration, utils

from modelexport_exporter.plugins.lenient_graph import UsedFunctions, lenient_graph
from modelexport_exporter.plugins.symbolic_call import called_as_written

Symbolic = Callable[..., Any]
Key = tuple[str, int]
"""An operator, `aten::elu`, and the opset that a symbolic function is registered for."""

PYTHON_OP = "prim::PythonOp"
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
        utils._trigger_symbolic_function_registration()  # noqa: SLF001
        self._modules = [(version, dict(vars(module)), module) for version, module in _modules()]
        self._overrides = _overrides()

    def changes(self) -> dict[Key, Symbolic]:
        """Return every symbolic function of the user's, by operator and opset."""
        found: dict[Key, Symbolic] = {}
        for version, before, module in self._modules:
            for name, value in vars(module).items():
                if before.get(name) is not value and _is_function(value):
                    found[_qualified(name), version] = value
        return found | {
            key: function
            for key, function in _overrides().items()
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
        nearest: int | None = registration._dispatch_opset_version(opset, offered)  # noqa: SLF001
        if nearest is None:
            too_new[name] = min(offered)
        else:
            functions[name] = changes[name, nearest]
    return Chosen(functions, too_new)


@contextmanager
def registered(chosen: Chosen, opset: int) -> Iterator[UsedFunctions]:
    """Let the user's symbolic functions win while the block runs."""
    _forget_empty_groups()
    overrides = _overrides()
    for name, function in chosen.functions.items():
        adapted = called_as_written(function)
        registration.registry.register(name, opset, adapted, custom=True)
    try:
        with lenient_graph() as used:
            yield used
    finally:
        for name in chosen.functions:
            before = overrides.get((name, opset))
            if before is None:
                registration.registry.unregister(name, opset)
            else:
                registration.registry.register(name, opset, before, custom=True)
        _forget_empty_groups()


def _forget_empty_groups() -> None:
    """Remove what unregistering leaves: torch stumbles over an operator without any function."""
    groups = registration.registry._registry  # noqa: SLF001
    for name in [name for name, group in groups.items() if not group._functions]:  # noqa: SLF001
        del groups[name]


def _overrides() -> dict[Key, Symbolic]:
    return {
        (name, version): function
        for name, group in registration.registry._registry.items()  # noqa: SLF001
        for version, function in group._functions._overrides.items()  # noqa: SLF001
    }


def _modules() -> Iterator[tuple[int, ModuleType]]:
    """Yield the symbolic modules: torch's own, and the copies under the public names."""
    for version in range(7, 21):
        for package in ("torch.onnx._internal.torchscript_exporter", "torch.onnx"):
            yield version, importlib.import_module(f"{package}.symbolic_opset{version}")


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, type | ModuleType)


def _is_librarys(function: Symbolic) -> bool:
    package = str(getattr(function, "__module__", "")).partition(".")[0]
    return package in _LIBRARIES and package in sys.modules


def _qualified(name: str) -> str:
    """Return the operator that a function of a symbolic module stands for."""
    if name.startswith("prim_"):
        return f"prim::{name.removeprefix('prim_')}"
    return f"aten::{name}"
