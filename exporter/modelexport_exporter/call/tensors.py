"""Converts arrays to tensors and back, bfloat16 included."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch
from numpy.typing import NDArray

from modelexport_api.spec import DType

Array = NDArray[Any]

TORCH_DTYPES: dict[DType, torch.dtype] = {
    dtype: getattr(torch, dtype.value) for dtype in DType if dtype is not DType.STRING
}

SPEC_DTYPES: dict[torch.dtype, DType] = {dtype: name for name, dtype in TORCH_DTYPES.items()}


def to_tensor(array: Array) -> torch.Tensor:
    """Return a copy as a tensor: models may write into their inputs."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def to_array(tensor: torch.Tensor) -> Array:
    """Return a tensor as an array, on the CPU."""
    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    if plain.dtype is torch.bfloat16:
        bits: Array = plain.contiguous().view(torch.int16).numpy()
        return bits.view(ml_dtypes.bfloat16)
    return np.asarray(plain.numpy())
