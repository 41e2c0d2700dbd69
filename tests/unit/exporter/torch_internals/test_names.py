"""One test for each private name: a release of torch that removes or changes it fails here.

The tables, `names_of_*.py`, have a row for each name that `private_names` finds in torch_internals,
and no other.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from onnxscript.rewriter import _matcher
from torch.nn.attention import flex_attention
from torch.onnx._internal.torchscript_exporter import registration

from modelexport_exporter.torch_internals.symbolics import import_symbolics
from private_names import ALLOWED, find_private_names
from unit.exporter.torch_internals import names_of_export, names_of_torch, names_of_torchscript
from unit.exporter.torch_internals.name_checks import TILE

PROPERTIES = {
    **names_of_torch.PROPERTIES,
    **names_of_torchscript.PROPERTIES,
    **names_of_export.PROPERTIES,
}
OBJECTS: dict[str, Any] = {
    "flexible": flex_attention,
    "func": torch.ops.aten.add_.Tensor,
    "matcher": _matcher.SimplePatternMatcher,
    "op": torch.ops.aten.reshape.default,
    "operator": TILE,
    "tensor": torch.ones(2)[:1],
    "module": torch.nn.BatchNorm1d(2),
    "versioned": torch.nn.Linear(1, 1).state_dict(),
}
"""Examples of the objects whose private attributes are read, by the name of the variable."""


def resolve(name: str) -> Any:  # noqa: ANN401
    if name.startswith("'"):
        return name.strip("'")
    root, *attributes = name.split(".")
    if root in OBJECTS:
        found = OBJECTS[root]
    elif root in {"torch", "onnxscript"}:
        found = importlib.import_module(root)
    else:
        return name
    path = root
    for attribute in attributes:
        path = f"{path}.{attribute}"
        try:
            found = importlib.import_module(path)
        except ModuleNotFoundError:
            found = getattr(found, attribute)
    return found


def names_in_use() -> set[str]:
    """Return the names of the room, of `a.b` and `a.b.c` the longer one only."""
    found = {
        use.name for path in ALLOWED.glob("*.py") for use in find_private_names(path.read_text())
    }
    return {name for name in found if not any(other.startswith(f"{name}.") for other in found)}


@pytest.fixture(autouse=True, scope="module")
def _registered_symbolics() -> Iterator[None]:
    import_symbolics()
    registration.registry.register("test::group", 9, print, custom=True)
    OBJECTS["group"] = registration.registry.get_function_group("test::group")
    yield
    registration.registry.unregister("test::group", 9)
    del registration.registry._registry["test::group"]


@pytest.mark.parametrize("name", PROPERTIES)
def test_is_what_we_rely_on(name: str) -> None:
    assert PROPERTIES[name](resolve(name))


def test_each_name_has_a_row() -> None:
    assert names_in_use() == set(PROPERTIES)
