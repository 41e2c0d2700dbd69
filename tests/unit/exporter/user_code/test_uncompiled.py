"""The user's functions run as they are written, where torch.compile decorates them."""

from __future__ import annotations

import types
from collections.abc import Iterator

import pytest
import torch

from modelexport_exporter.user_code.uncompiled import run_as_written
from modelexport_exporter.user_code.wrappers import unwrapped

MODULE = """
import torch
from torch import compile as compiled

def double(x):
    return 2 * x

in_place = torch.compile(double)
imported = compiled(double, mode="reduce-overhead")

@torch.compile
def decorated(x):
    return 3 * x

@torch.compile(fullgraph=True, dynamic=True)
def with_options(x):
    return 4 * x

class Net(torch.nn.Module):
    @torch.compile
    def half(self, x):
        return x / 2

    def forward(self, x):
        return self.half(x)

wrapped = torch.compile(Net())
itself = Net()
itself.compile(fullgraph=True)
"""


@pytest.fixture
def users(monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """Yield a module of the user; compiling what it calls is an error."""
    monkeypatch.setattr(torch, "compile", torch.compile)  # put back at the end
    run_as_written()
    module = types.ModuleType("net")
    exec(MODULE, vars(module))
    with torch.compiler.set_stance("fail_on_recompile"):
        yield module


@pytest.mark.parametrize(
    ("name", "factor"),
    [("in_place", 2), ("imported", 2), ("decorated", 3), ("with_options", 4), ("itself", 0.5)],
)
def test_a_function_is_what_is_written(users: types.ModuleType, name: str, factor: float) -> None:
    x = torch.ones(3)
    assert torch.equal(getattr(users, name)(x), factor * x)


def test_a_module_keeps_its_wrapper_and_is_found_in_it(users: types.ModuleType) -> None:
    assert not users.wrapped.state_dict()
    assert type(unwrapped(users.wrapped)) is users.Net
    assert [name for name, _ in users.wrapped.named_modules()] == ["", "_orig_mod"]
    assert torch.equal(unwrapped(users.wrapped)(torch.ones(1)), torch.full((1,), 0.5))


def test_torch_and_we_still_compile() -> None:
    before = torch.compile
    try:
        run_as_written()
        ours: dict[str, object] = {"__name__": "modelexport_exporter.workers.benchmark"}
        exec("import torch; found = torch.compile(abs, backend='eager')", ours)
        assert ours["found"] is not abs
    finally:
        torch.compile = before
