"""The modules whose functions run in a call are found, also those that forward imports."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
import torch

from modelexport_exporter.user_code.called_modules import modules_called


def made(monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> ModuleType:
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(source, vars(module))
    return module


def test_functions_of_any_library_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = made(
        monkeypatch, "vision.sizes", "import torch\ndef half(x):\n    return len(x) // 2\n"
    )
    made(monkeypatch, "helpers", "def note(x):\n    return x\n")
    made(monkeypatch, "vision.unused", "def nothing(): ...\n")
    source = """
import json
import helpers
import torch
class Net(torch.nn.Linear):
    def forward(self, x):
        from vision import sizes
        json.dumps(helpers.note(3))
        return super().forward(x[:sizes.half(x)])
"""
    made(monkeypatch, "vision", "").sizes = sizes  # type: ignore[attr-defined]
    models = made(monkeypatch, "models", source)
    net = models.Net(2, 2)
    found = modules_called(lambda: net(torch.ones(4, 2)))
    assert found == [sys.modules[__name__], models, sizes]


def test_what_the_call_raises_is_left_out_and_the_profile_stays() -> None:
    def fails() -> None:
        raise SystemError

    before = sys.getprofile()
    assert modules_called(fails) == [sys.modules[__name__]]
    assert sys.getprofile() is before
