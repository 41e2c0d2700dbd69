"""Operators that work element by element."""

import torch
from torch import Tensor, nn


class Add(nn.Module):
    """add in its forms: operator, function, method, in place, with scalars on either side."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        z = x.clone()
        z += y
        return x + y, torch.add(x, 2), 3.5 + y, x.add(y).add_(1), z
