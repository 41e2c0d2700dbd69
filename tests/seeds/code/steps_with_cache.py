"""A decoder's step: keys and values of earlier tokens go in, and come out with new ones."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

HEADS, WIDTH = 2, 8


class CachedStep(nn.Module):
    """Causal attention of new tokens to earlier ones and themselves, where the mask has ones."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(HEADS * WIDTH, 3 * HEADS * WIDTH)
        self.out = nn.Linear(HEADS * WIDTH, HEADS * WIDTH)

    def forward(
        self, x: Tensor, attention_mask: Tensor, past_keys: Tensor, past_values: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        batch, tokens, _ = x.shape
        parts = self.project(x).view(batch, tokens, 3, HEADS, WIDTH).permute(2, 0, 3, 1, 4)
        keys = torch.cat([past_keys, parts[1]], 2)
        values = torch.cat([past_values, parts[2]], 2)
        positions = torch.arange(keys.shape[2], device=x.device)
        causal = positions[None, :] <= positions[past_keys.shape[2] :, None]
        seen = causal & (attention_mask[:, None, None, :] > 0)
        hidden = F.scaled_dot_product_attention(parts[0], keys, values, attn_mask=seen)
        return self.out(hidden.transpose(1, 2).reshape(batch, tokens, -1)), keys, values
