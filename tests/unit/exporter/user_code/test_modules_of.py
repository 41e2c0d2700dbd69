"""The Python modules of a model are those of its classes, of its helpers and of the user."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch

from modelexport_exporter.user_code.caches import modules_of


def made(monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> ModuleType:
    module = ModuleType(name)
    monkeypatch.setitem(__import__("sys").modules, name, module)
    exec(source, vars(module))
    return module


def test_helpers_of_the_same_library_belong_to_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    helpers = made(monkeypatch, "library.helpers", "def whole(x):\n    return int(x)\n")
    other = made(monkeypatch, "another.helpers", "def half(x):\n    return x / 2\n")
    made(monkeypatch, "library.unused", "def nothing(): ...\n")
    source = (
        "import torch\nfrom library.helpers import whole\nfrom another.helpers import half\n"
        "class Net(torch.nn.Linear): ...\n"
    )
    models = made(monkeypatch, "library.models", source)
    net: torch.nn.Module = models.Net(2, 2)
    found = modules_of(net, None)
    assert helpers in found
    assert models in found
    assert other not in found
    assert "library.unused" not in {module.__name__ for module in found}
