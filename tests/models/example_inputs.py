"""Input tensors for a spec whose inputs are all of kind Tensor, drawn by torch's generator.

Mutants are derived from these values, so they are not drawn by `modelexport_exporter.sampling`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from modelexport_api.spec import Input, ModelExportSpec
from modelexport_exporter.call.tensors import TORCH_DTYPES
from modelexport_exporter.core.dims import concrete_shape


def example_inputs(
    spec: ModelExportSpec, sizes: Mapping[str, int], seed: int = 0
) -> tuple[torch.Tensor, ...]:
    """Return one tensor for each input, in order."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(_draw(entry, concrete_shape(entry, sizes), generator) for entry in spec.inputs)


def _draw(entry: Input, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    dtype = TORCH_DTYPES[entry.dtype]
    if dtype is torch.bool:
        return torch.randint(0, 2, shape, generator=generator).to(torch.bool)
    low, high = entry.range or (0.0, 1.0)
    if dtype.is_floating_point:
        if entry.range is None:
            return torch.randn(shape, generator=generator).to(dtype)
        return (low + (high - low) * torch.rand(shape, generator=generator)).to(dtype)
    drawn = torch.randint(math.ceil(low), math.floor(high) + 1, shape, generator=generator)
    return drawn.to(dtype)
