"""Captures of sizes that a module computes with integers which it keeps in tensors []."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from modelexport_exporter.torch_internals.known_integers import (
    NumbersRead,
    has_numbers,
    integers_of,
    known_integers,
    note_numbers,
)
from models.code import kept_integers
from unit.exporter.torch_internals.exporting import exported

X = torch.arange(40.0).reshape(1, 1, 40)
ITEMS = (torch.ops.aten.item.default, torch.ops.aten._local_scalar_dense.default)


def export(module: nn.Module, most: int = 300) -> tuple[ExportedProgram, NumbersRead]:
    integers = integers_of(module).values()
    with known_integers(integers) as read:
        return exported(module, X, {2: Dim("n", min=12, max=most)}), read


def numbers_without_value(program: ExportedProgram) -> list[str]:
    nodes = program.graph.nodes
    return [node.name for node in nodes if node.target in ITEMS and node.users]


@pytest.mark.parametrize(
    "factory",
    [
        kept_integers.Padded,
        kept_integers.Windows,
        kept_integers.Rest,
        kept_integers.Plain,
    ],
)
def test_a_capture_holds_for_all_sizes(factory: type[nn.Module]) -> None:
    module = factory().eval()
    program, read = export(module)
    assert read.any
    assert not numbers_without_value(program)
    for n in (12, 13, 14, 15, 16, 17, 40, 299, 300):
        x = torch.arange(1.0 * n).reshape(1, 1, n)
        torch.testing.assert_close(program.module()(x), module(x))


def test_an_integer_of_the_caller_is_not_known() -> None:
    class First(nn.Module):
        def forward(self, x: Tensor, count: Tensor) -> Tensor:
            return x + count

    with known_integers([]) as read:
        program = torch.export.export(First(), (X, torch.tensor(3)), strict=False)
    assert not read.any
    assert torch.equal(program.module()(X, torch.tensor(9)), X + 9)


def test_an_integer_that_only_the_graph_reads_stays_a_weight() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = kept_integers.kept(3)

        def forward(self, x: Tensor) -> Tensor:
            return x * self.factor

    module = Scaled()
    program, read = export(module)
    assert not read.any
    (name,) = program.graph_signature.buffers
    assert name == "factor"
    program.state_dict["factor"] = torch.tensor(5)
    assert torch.equal(program.module()(X), X * 5)


def test_quotients_of_sizes_that_float32_rounds_have_no_number() -> None:
    program, _ = export(kept_integers.Windows(), 2**30)  # integers are exact
    assert not numbers_without_value(program)

    class Halves(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.two = kept_integers.kept(2)

        def forward(self, x: Tensor) -> Tensor:
            count = torch.ceil((x.shape[-1] + self.two) / self.two).long()
            return torch.zeros(int(count.item()))

    assert not numbers_without_value(export(Halves(), 2**21)[0])
    with pytest.raises(GuardOnDataDependentSymNode):
        export(Halves(), 2**24)


@pytest.mark.parametrize(
    ("one", "other", "quotient"),
    [(7, 2, 3.5), (7, 0, None), (2**23, 2, None), (-(2**23), 2, None), (-7, 2, -3.5)],
)
def test_only_exact_quotients_are_known(one: int, other: int, quotient: float | None) -> None:
    class Divided(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.other = kept_integers.kept(one), kept_integers.kept(other)

        def forward(self, x: Tensor) -> Tensor:
            return x[: int(torch.ceil(self.one / self.other).long().item())]

    module = Divided()
    if quotient is None:
        with pytest.raises(GuardOnDataDependentSymNode):
            export(module)
    else:
        assert torch.equal(export(module)[0].module()(X), module(X))


def test_a_program_notes_that_it_has_numbers() -> None:
    program, _ = export(kept_integers.Windows())
    assert not has_numbers(program)
    note_numbers(program)
    assert has_numbers(program)
