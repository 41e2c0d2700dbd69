"""What `int`, `float`, `len` and `math.sqrt` of a model's code do while it is captured."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import pytest
import torch

from modelexport_exporter.torch_internals.symbolic_numbers import sizes_stay_symbolic

CODE = """
import math
from math import sqrt
def half(n): return int(n * 0.5)
def real(n): return float(n) / 3
def roots(n): return math.sqrt(n), sqrt(n)
def bits(n):
    return n.bit_length(), math.ceil(math.log2(n)), math.floor(math.log2(n)), int(math.log2(n))
def same(): return isinstance(3, int), isinstance(3, float), issubclass(bool, int)
def kinds(): return type(3) == int, {int: "i", float: "f"}[type(3.0)], int | None, int("7")
def rows(x): return len(x)
def methods(): return int.from_bytes(b"a", "big"), float.fromhex("0x1p1"), int(True)
"""


@pytest.fixture
def module() -> Any:  # noqa: ANN401
    made = ModuleType("of_the_user")
    exec(CODE, vars(made))
    return made


def test_of_numbers_they_are_pythons(module: Any) -> None:  # noqa: ANN401
    plain = [module.half(7), module.real(7), module.roots(7), module.same(), module.kinds()]
    with sizes_stay_symbolic([module]):
        found = [module.half(7), module.real(7), module.roots(7), module.same(), module.kinds()]
        assert module.methods() == (97, 2.0, 1)
    assert found == plain


def test_nothing_is_left(module: Any) -> None:  # noqa: ANN401
    before, root = dict(vars(module)), math.sqrt
    with sizes_stay_symbolic([module, module]):
        assert module.int is not int
    assert vars(module) == before
    assert math.sqrt is root


def test_of_sizes_they_are_symbolic(module: Any) -> None:  # noqa: ANN401
    class Sized(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            n = x.shape[0]
            first, second = module.roots(n)
            scaled: torch.Tensor = x * module.half(n) * module.real(n) / first / second
            return scaled

    dims = ({0: torch.export.Dim("n", min=2, max=50)},)
    with sizes_stay_symbolic([module]):
        program = torch.export.export(Sized(), (torch.ones(6),), dynamic_shapes=dims)
    for size in (2, 7, 50):
        given = torch.rand(size)
        assert torch.equal(program.module()(given), Sized()(given))


def test_the_length_of_a_tensor_is_its_first_size(module: Any) -> None:  # noqa: ANN401
    class Sized(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            rows: int = module.rows(x)
            return x.new_zeros(rows, module.rows([x, x])) + x.sum() / rows

    dims = ({0: torch.export.Dim("n", min=2, max=50)},)
    with sizes_stay_symbolic([module]):
        program = torch.export.export(Sized(), (torch.ones(6, 3),), dynamic_shapes=dims)
        with pytest.raises(TypeError, match="0-d"):
            module.rows(torch.ones(()))
    for size in (2, 7, 50):
        given = torch.rand(size, 3)
        assert torch.equal(program.module()(given), Sized()(given))


def test_the_next_power_of_two_of_a_size(module: Any) -> None:  # noqa: ANN401
    class Sized(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            bits = module.bits(x.shape[0])
            scaled: torch.Tensor = sum(x * 10**place * one for place, one in enumerate(bits))
            return scaled

    dims = ({0: torch.export.Dim("n", min=1, max=70)},)
    with sizes_stay_symbolic([module]):
        program = torch.export.export(Sized(), (torch.ones(6),), dynamic_shapes=dims)
    for size in (2, 3, 4, 7, 8, 9, 63, 64, 65, 70):
        given = torch.ones(size)
        assert torch.equal(program.module()(given), Sized()(given)), size
    assert (6).bit_length() == 3
    assert math.log2(6) > 2
