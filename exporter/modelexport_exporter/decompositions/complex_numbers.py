"""Functions of complex numbers, from their real and imaginary parts."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.catalogue import decomposes


def _is_complex(x: Tensor, *_: object, **__: object) -> bool:
    return x.dtype.is_complex


@decomposes(
    "aten::exp",
    method="exp(re) · (cos(im) + i sin(im)), for complex numbers",
    accuracy="3e-7 (complex64)",
    applies=_is_complex,
)
def exp(x: Tensor) -> Tensor:
    parts = torch.view_as_real(x)
    size, angle = torch.exp(parts[..., 0]), parts[..., 1]
    turned = torch.stack([size * torch.cos(angle), size * torch.sin(angle)], -1)
    return torch.view_as_complex(turned)
