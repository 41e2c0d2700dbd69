"""The model: a small network with a custom operator, registered with torch.library."""

import torch
from torch import Tensor, nn


@torch.library.custom_op("example::snake", mutates_args=())
def snake(x: Tensor, alpha: float) -> Tensor:
    """Return x + sin²(alpha·x) / alpha."""
    return x + torch.sin(alpha * x) ** 2 / alpha


@snake.register_fake
def _(x, alpha):
    return torch.empty_like(x)


class Network(nn.Module):
    def __init__(self, alpha=0.5):
        super().__init__()
        self.alpha = alpha
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 4)

    def forward(self, x):
        return self.second(torch.ops.example.snake(self.first(x), self.alpha))


def build(alpha=0.5):
    return Network(alpha)
