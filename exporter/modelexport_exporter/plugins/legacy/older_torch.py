"""Names that torch.onnx had once, for plugins and models that were written then.

Guarantees that such code imports and that its symbolic functions find the helpers they call, with
the behaviour of their time where today's would be silently wrong. Only names that are missing are
added, and all of them are gone when the block ends.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
import torch.onnx

from modelexport_exporter.plugins.legacy.older_helpers import HELPERS
from modelexport_exporter.torch_internals.symbolics import symbolic_modules
from modelexport_exporter.torch_internals.torchscript_exporter import (
    FORMER_MODULES,
    export_settings,
    registration,
    symbolic_helper,
    utils,
)

_MISSING = object()


@dataclass
class SymbolicContext:
    """What torch 1.11 and 1.12 gave to symbolic functions of prim operators."""

    params_dict: dict[str, Any] = field(default_factory=dict)
    env: dict[Any, Any] = field(default_factory=dict)
    cur_node: Any = None
    onnx_block: Any = None


@contextmanager
def older_torch() -> Iterator[None]:
    """Offer the names of older torch while the block runs."""
    # The modules that users import are thin copies of the internal ones; what is added to the
    # copies does not touch torch's own symbolic functions.
    helper = importlib.import_module("torch.onnx.symbolic_helper")
    opset9 = importlib.import_module("torch.onnx.symbolic_opset9")
    public_utils = importlib.import_module("torch.onnx.utils")
    list(symbolic_modules())  # imports them
    with ExitStack() as stack:

        def put(owner: Any, name: str, value: object, *, replace: bool = False) -> None:  # noqa: ANN401
            if replace or not hasattr(owner, name):
                stack.enter_context(_attribute(owner, name, value))

        for name, module in {
            **FORMER_MODULES,
            "torch.onnx.symbolic": opset9,
            "torch.onnx.symbolic_registry": _symbolic_registry(),
        }.items():
            stack.enter_context(_module(name, module))
        for name, value in HELPERS.items():
            put(helper, name, value, replace=True)
        for name, value in vars(symbolic_helper).items():
            put(helper, name, value)
        put(helper, "__getattr__", _setting)
        put(torch.onnx, "SymbolicContext", SymbolicContext)
        for owner in (torch.onnx, public_utils, utils):
            put(owner, "set_training", utils.select_model_mode_for_export)
        yield


@dataclass
class RecordedExports:
    """Arguments of the calls of torch.onnx.export in a plugin that was a script."""

    custom_opsets: dict[str, int] = field(default_factory=dict)
    custom_translation_table: dict[Any, Any] = field(default_factory=dict)


@contextmanager
def record_exports() -> Iterator[RecordedExports]:
    """Record the arguments of torch.onnx.export instead of exporting, while a plugin is imported.

    Documentation and old scripts call it at the end of the file that registers the operator.
    """
    recorded = RecordedExports()

    def export(*_args: object, **options: Any) -> None:  # noqa: ANN401
        recorded.custom_opsets.update(options.get("custom_opsets") or {})
        recorded.custom_translation_table.update(options.get("custom_translation_table") or {})

    public_utils = importlib.import_module("torch.onnx.utils")
    with ExitStack() as stack:
        for owner in (torch.onnx, public_utils, utils):
            stack.enter_context(_attribute(owner, "export", export))
        yield recorded


def _symbolic_registry() -> ModuleType:
    module = ModuleType("torch.onnx.symbolic_registry")

    def register_op(name: str, function: Callable[..., Any], domain: str, version: int) -> None:
        utils.register_custom_op_symbolic(f"{domain or 'aten'}::{name}", function, version)

    def is_registered_op(name: str, domain: str, version: int) -> bool:
        return registration.registry.is_registered_op(f"{domain or 'aten'}::{name}", version)

    def get_registered_op(name: str, domain: str, version: int) -> Callable[..., Any]:
        group = registration.registry.get_function_group(f"{domain or 'aten'}::{name}")
        function = group.get(version) if group else None
        if function is None:
            raise RuntimeError(f"no symbolic of {domain}::{name} for opset {version}")
        return function

    def register_version(_domain: str, _version: int) -> None:
        """Do nothing: all versions are registered."""

    for function in (register_op, is_registered_op, get_registered_op, register_version):
        setattr(module, function.__name__, function)
    return module


def _setting(name: str) -> object:
    """Return a setting of the running export, which was a variable of symbolic_helper once."""
    if name == "_export_onnx_opset_version":
        return export_settings.export_onnx_opset_version
    if name == "_operator_export_type":
        return export_settings.operator_export_type
    if name == "_training_mode":
        return export_settings.training_mode
    raise AttributeError(f"module 'torch.onnx.symbolic_helper' has no attribute '{name}'")


@contextmanager
def _attribute(owner: Any, name: str, value: object) -> Iterator[None]:  # noqa: ANN401
    before = vars(owner).get(name, _MISSING)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if before is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


@contextmanager
def _module(name: str, module: ModuleType) -> Iterator[None]:
    """Make a module importable by a name, also as an attribute of its package."""
    if name in sys.modules:
        yield
        return
    package, _, attribute = name.rpartition(".")
    sys.modules[name] = module
    try:
        with _attribute(sys.modules[package], attribute, module):
            yield
    finally:
        sys.modules.pop(name, None)
