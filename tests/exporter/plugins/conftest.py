"""Fixtures of the tests of plugins."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from torch.onnx._internal.torchscript_exporter import registration

from exporter.plugins.plugin_exports import CODE, EXAMPLE, OPERATOR_MODULES
from modelexport_exporter.plugins.symbolics import SymbolicWatch
from modelexport_exporter.torch_internals.symbolics import custom_symbolics


@pytest.fixture
def forget_plugins() -> Iterator[None]:
    """Undo what the plugins did to this process: an export has processes of its own."""
    watch = SymbolicWatch()
    modules = set(sys.modules)
    yield
    for name, opset in set(custom_symbolics()) & set(watch.changes()):
        registration.registry.unregister(name, opset)
    for _, before, module in watch._modules:
        for name in [name for name in vars(module) if name not in before]:
            delattr(module, name)
        vars(module).update(before)
    for name in set(sys.modules) - modules:
        path = Path(str(getattr(sys.modules[name], "__file__", "")))
        if path.parent in {CODE, EXAMPLE} and path.stem not in OPERATOR_MODULES:
            del sys.modules[name]
