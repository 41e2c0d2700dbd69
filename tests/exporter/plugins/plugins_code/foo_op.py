"""The operator of the documentation's C++ example, implemented in Python."""

import torch


@torch.library.custom_op("custom_ops::foo_forward", mutates_args=())
def foo_forward(
    input1: torch.Tensor, input2: torch.Tensor, attr1: float, attr2: int
) -> torch.Tensor:
    return input1 * attr1 + input2 * attr2


@foo_forward.register_fake
def _(input1, input2, attr1, attr2):
    return torch.empty_like(input1)
