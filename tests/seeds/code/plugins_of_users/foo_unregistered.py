"""An operator of the domain custom_ops, with schema and fake kernel, but no translation."""

from __future__ import annotations

import torch


@torch.library.custom_op("custom_ops::foo_forward", mutates_args=())
def foo_forward(
    input1: torch.Tensor, input2: torch.Tensor, attr1: float, attr2: int
) -> torch.Tensor:
    return input1 * attr1 + input2 * attr2


@foo_forward.register_fake
def _(input1: torch.Tensor, input2: torch.Tensor, attr1: float, attr2: int) -> torch.Tensor:
    return torch.empty_like(input1)
