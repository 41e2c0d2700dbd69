"""Input tensors for a spec whose inputs are all of kind Tensor, passed in order."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call.draw import draw
from modelexport_exporter.core.dims import concrete_shape


def example_inputs(
    spec: ModelExportSpec, sizes: Mapping[str, int], seed: int = 0
) -> tuple[torch.Tensor, ...]:
    """Return one tensor for each input, in order."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(draw(entry, concrete_shape(entry, sizes), generator) for entry in spec.inputs)
