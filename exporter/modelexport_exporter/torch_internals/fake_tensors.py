"""Run a module on tensors that have shapes and no contents."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeCopyMode, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils._sympy.printers import PythonPrinter

from modelexport_exporter.torch_internals.symbolic_sizes import (
    rename_symbols,
    sizes_written_as_text,
)

_TORCH = str(Path(torch.__file__).parent)
_NUMBER_OF_DIM = "modelexport_size_{}"


class FakeModule:
    """A copy of a module without contents: it takes no memory, and runs change nothing."""

    def __init__(self, module: torch.nn.Module, environment: ShapeEnv | None = None) -> None:
        self._mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=environment)
        with self._mode, FakeCopyMode(self._mode):
            self._module = copy.deepcopy(module)

    def run(self, called: Callable[[torch.nn.Module], Any]) -> Any:  # noqa: ANN401
        """Return `called(module)`; tensors that it makes are fake, too."""
        with self._mode, torch.no_grad():
            return called(self._module)


def fake_shapes(tensors: Sequence[torch.Tensor]) -> list[tuple[int, ...]] | None:
    """Return the shapes; None if one depends on contents."""
    shapes = [tuple(tensor.shape) for tensor in tensors]
    known = all(isinstance(size, int) for shape in shapes for size in shape)
    return shapes if known else None


@dataclass(frozen=True)
class SymbolicShapes:
    """The shapes that one run returns at all sizes which Python cannot tell from its own."""

    dims: tuple[str, ...]
    conditions: tuple[str, ...]
    """Where they hold, the module does the same; Python expressions of `number_of` the dims."""
    shapes: tuple[tuple[str, ...], ...]
    """Of the outputs, as such expressions."""


def number_of(place: int) -> str:
    """Return the name that a dim has in expressions."""
    return _NUMBER_OF_DIM.format(place)


def symbolic_shapes(
    module: torch.nn.Module,
    sizes: Mapping[str, int],
    called: Callable[[torch.nn.Module, Mapping[str, Any]], Sequence[torch.Tensor]],
) -> SymbolicShapes | None:
    """Run a module at sizes that stand for others, too; None where shapes depend on contents.

    `called` runs the module at the sizes that it is given, `torch.SymInt` by the name of the dim.
    A size that Python writes as text leaves no condition: None.
    """
    # Sizes 0 and 1, and equal ones, are sizes as any other: what distinguishes them is a condition.
    environment = ShapeEnv(specialize_zero_one=False, duck_shape=False)
    numbers: dict[str, Any] = {}
    for name, size in sizes.items():
        source = ConstantSource(name)
        symbol = environment.create_symbol(size, source, DimDynamic.DYNAMIC)
        numbers[name] = environment.create_symintnode(symbol, hint=size, source=source)
    symbols = {
        str(number.node.expr): number_of(place) for place, number in enumerate(numbers.values())
    }
    fake = FakeModule(module, environment)
    with sizes_written_as_text(lambda file: not file.startswith(_TORCH)) as texts:
        outputs = fake.run(lambda copied: called(copied, numbers))
        shapes = [[getattr(getattr(n, "node", None), "expr", n) for n in o.shape] for o in outputs]
    guards = [guard.expr for guard in environment.guards]
    expressions = [*guards, *(size for shape in shapes for size in shape)]
    free = {str(own) for one in expressions for own in getattr(one, "free_symbols", ())}
    if texts or not free <= set(symbols):
        return None

    def as_python(expression: object) -> str:
        return rename_symbols(PythonPrinter().doprint(expression), symbols)

    return SymbolicShapes(
        tuple(sizes),
        tuple(map(as_python, guards)),
        tuple(tuple(map(as_python, shape)) for shape in shapes),
    )
