"""Run a module on tensors that have shapes and no contents."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeCopyMode, FakeTensorMode


class FakeModule:
    """A copy of a module without contents: it takes no memory, and runs change nothing."""

    def __init__(self, module: torch.nn.Module) -> None:
        self._mode = FakeTensorMode(allow_non_fake_inputs=True)
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
