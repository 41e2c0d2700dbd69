"""The shapes that the original module returns at given sizes, run on tensors without contents.

One run with symbols for sizes costs 0.05 s of a small encoder, 0.3 s of ResNet-50, and stands for
all sizes at which torch's conditions on them hold (`n != 1`, `n < 16`): a few runs for all sizes of
most models. Where nearly every size has conditions of its own (`int(n * 0.58)`), the module runs at
each size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

import torch
from numpy.typing import NDArray

from modelexport_exporter.call import NUMBERS, Call, flatten
from modelexport_exporter.call.tensors import TORCH_DTYPES, to_tensor
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.torch_internals.fake_tensors import (
    FakeModule,
    SymbolicShapes,
    fake_shapes,
    number_of,
    symbolic_shapes,
)
from modelexport_exporter.verification.shapes.observed import EagerShapes, Shape

Array = NDArray[Any]

MOST_SYMBOLIC = 6
"""Runs with symbols, each for the sizes at which no former one holds."""
FIRST_SYMBOLIC = 2
WORTH = 2
"""After the first ones, another such run needs so many sizes that each of them stood for."""


@dataclass(frozen=True)
class Piece:
    """The shapes at those sizes at which the module does the same."""

    found: SymbolicShapes

    def at(self, sizes: Mapping[str, int]) -> list[Shape] | None:
        """Return the shapes; None if a condition does not hold at these sizes."""
        if any(name not in sizes for name in self.found.dims):
            return None
        numbers = {number_of(place): sizes[name] for place, name in enumerate(self.found.dims)}
        names = {"math": math, "torch": torch, **numbers}
        conditions, shapes = self._code
        try:
            # torch's own printer wrote the text, from what it noted during the run.
            if not all(eval(code, names) for code in conditions):  # noqa: S307
                return None
            return [tuple(int(eval(code, names)) for code in shape) for shape in shapes]  # noqa: S307
        except Exception:  # noqa: BLE001 - a function that Python does not know, a division by 0
            return None

    @cached_property
    def _code(self) -> tuple[list[CodeType], list[list[CodeType]]]:
        def compiled(text: str) -> CodeType:
            return compile(text, "<size>", "eval")

        shapes = [[compiled(size) for size in shape] for shape in self.found.shapes]
        return [compiled(text) for text in self.found.conditions], shapes


def eager_shapes(
    module: torch.nn.Module,
    call: Call,
    arrays: Mapping[str, Array],
    device: str,
    without_caches: Callable[[torch.nn.Module], AbstractContextManager[None]],
) -> EagerShapes:
    """Return a function of the sizes; its result is None where shapes depend on values.

    `arrays`: of any sample; numbers are taken from it. `without_caches`: a context for runs whose
    tensors nothing may keep.
    """

    def called(fake: torch.nn.Module, sizes: Mapping[str, Any]) -> list[torch.Tensor]:
        values = {
            entry.name: to_tensor(arrays[entry.name])
            if entry.kind in NUMBERS
            else torch.empty(
                concrete_shape(entry, sizes), dtype=TORCH_DTYPES[entry.dtype], device=device
            )
            for entry in call.inputs
        }
        args, kwargs = call.arguments(values)
        with without_caches(fake):
            return list(flatten(fake(*args, **kwargs)))

    return _InPieces(module, called).at


class _InPieces:
    def __init__(
        self,
        module: torch.nn.Module,
        called: Callable[[torch.nn.Module, Mapping[str, Any]], list[torch.Tensor]],
    ) -> None:
        self._module, self._called = module, called
        self._pieces: list[Piece] = []
        self._stood_for = 0
        self._left = MOST_SYMBOLIC
        self._copy: FakeModule | None = None

    def at(self, sizes: Mapping[str, int]) -> list[Shape] | None:
        found = next(filter(None, (piece.at(sizes) for piece in self._pieces)), None)
        if found is not None:
            self._stood_for += 1
            return found
        return self._symbolic(sizes) or self._concrete(sizes)

    def _symbolic(self, sizes: Mapping[str, int]) -> list[Shape] | None:
        more = len(self._pieces) - FIRST_SYMBOLIC
        if not self._left or self._stood_for < WORTH * more:
            return None
        self._left -= 1
        try:
            traced = symbolic_shapes(self._module, sizes, self._called)
            found = None if traced is None else Piece(traced).at(sizes)
        except Exception:  # noqa: BLE001 - user code may need contents, or an int, and fail in any way
            traced = found = None
        if traced is None or found is None:
            self._left = 0
            return None
        self._pieces.append(Piece(traced))
        return found

    def _concrete(self, sizes: Mapping[str, int]) -> list[Shape] | None:
        try:
            if self._copy is None:
                self._copy = FakeModule(self._module)
            return fake_shapes(self._copy.run(lambda fake: self._called(fake, sizes)))
        except Exception:  # noqa: BLE001 - user code may need contents, and fail in any way
            return None
