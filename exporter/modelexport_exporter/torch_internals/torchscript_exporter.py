"""The modules of torch's TorchScript exporter, for plugins that import them by former names."""

from __future__ import annotations

from types import ModuleType

from torch.onnx._internal.torchscript_exporter import (
    _globals,
    _type_utils,
    jit_utils,
    registration,
    symbolic_helper,
    utils,
)

__all__ = ["FORMER_MODULES", "export_settings", "registration", "symbolic_helper", "utils"]

export_settings = _globals.GLOBALS
"""The settings of the running export."""


def _beartype() -> ModuleType:
    """Return a module whose decorator does nothing, as without the library beartype."""
    module = ModuleType("torch.onnx._internal._beartype")
    vars(module)["beartype"] = lambda function: function
    return module


FORMER_MODULES: dict[str, ModuleType] = {
    "torch.onnx._globals": _globals,
    "torch.onnx._type_utils": _type_utils,
    "torch.onnx._internal.jit_utils": jit_utils,
    "torch.onnx._internal.registration": registration,
    "torch.onnx._internal._beartype": _beartype(),
}
"""Modules by the names that they had before torch moved this exporter into a package of its own."""
