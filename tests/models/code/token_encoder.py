"""A small encoder of tokens that is too slow to be run at all of its sizes."""

from __future__ import annotations

import torch
from torch import nn


class TokenEncoder(nn.Module):
    """Two layers of attention."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(1000, width)
        self.positions = nn.Embedding(512, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return [batch, seq, 10]."""
        places = torch.arange(ids.shape[1], device=ids.device)
        logits: torch.Tensor = self.head(self.layers(self.tokens(ids) + self.positions(places)))
        return logits
