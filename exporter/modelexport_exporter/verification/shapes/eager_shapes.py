"""The shapes that the original module returns at given sizes, run on tensors without contents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from numpy.typing import NDArray

from modelexport_exporter.call import NUMBERS, Call, flatten
from modelexport_exporter.call.tensors import TORCH_DTYPES, to_tensor
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.torch_internals.fake_tensors import FakeModule, fake_shapes
from modelexport_exporter.verification.shapes.observed import Shape

Array = NDArray[Any]


def eager_shapes(
    module: torch.nn.Module, call: Call, arrays: Mapping[str, Array], device: str
) -> Callable[[Mapping[str, int]], list[Shape] | None]:
    """Return a function of the sizes; its result is None where shapes depend on values.

    `arrays`: of any sample; numbers are taken from it.
    """
    copies: list[FakeModule] = []

    def shapes(sizes: Mapping[str, int]) -> list[Shape] | None:
        def called(fake: torch.nn.Module) -> list[torch.Tensor]:
            values = {
                entry.name: to_tensor(arrays[entry.name])
                if entry.kind in NUMBERS
                else torch.empty(
                    concrete_shape(entry, sizes), dtype=TORCH_DTYPES[entry.dtype], device=device
                )
                for entry in call.inputs
            }
            args, kwargs = call.arguments(values)
            return list(flatten(fake(*args, **kwargs)))

        try:
            if not copies:
                copies.append(FakeModule(module))
            return fake_shapes(copies[0].run(called))
        except Exception:  # noqa: BLE001 - user code may need contents, and fail in any way
            return None

    return shapes
