"""Pools without a batch dim, which the TorchScript exporter mistakes for the channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.torch_internals import nn_functions

Pool = Callable[..., Any]
_POOLS: dict[str, tuple[int, Pool]] = {
    "avg_pool1d": (1, F.avg_pool1d),
    "avg_pool2d": (2, F.avg_pool2d),
    "avg_pool3d": (3, F.avg_pool3d),
    "max_pool1d": (1, torch.max_pool1d),
    "max_pool2d": (2, torch.max_pool2d),
    "max_pool3d": (3, torch.max_pool3d),
    "max_pool1d_with_indices": (1, torch.max_pool1d_with_indices),
    "max_pool2d_with_indices": (2, nn_functions.max_pool2d_with_indices),
    "max_pool3d_with_indices": (3, nn_functions.max_pool3d_with_indices),
    "adaptive_avg_pool1d": (1, torch.adaptive_avg_pool1d),
    "adaptive_avg_pool2d": (2, nn_functions.adaptive_avg_pool2d),
    "adaptive_avg_pool3d": (3, nn_functions.adaptive_avg_pool3d),
    "adaptive_max_pool1d": (1, torch.adaptive_max_pool1d),
    "adaptive_max_pool2d": (2, nn_functions.adaptive_max_pool2d),
    "adaptive_max_pool3d": (3, nn_functions.adaptive_max_pool3d),
}


def _add_batch(dims: int, pool: Pool) -> Pool:
    def pool_one(x: Tensor, *options: object, **named: object) -> Any:  # noqa: ANN401
        if x.dim() != dims + 1:
            return NotImplemented
        result = pool(x.unsqueeze(0), *options, **named)
        if isinstance(result, Tensor):
            return result.squeeze(0)
        return tuple(part.squeeze(0) for part in result)

    return pool_one


POOLS = {f"aten::{name}": _add_batch(dims, pool) for name, (dims, pool) in _POOLS.items()}
"""By operator; they return NotImplemented where there is a batch."""
