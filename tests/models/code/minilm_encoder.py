"""A sentence encoder: BERT, and the mean of its last hidden states over the tokens that count."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers import BertConfig, BertModel


class SentenceEncoder(BertModel):  # type: ignore[no-untyped-call]
    """BERT whose forward method returns one vector for each sentence."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        # The checkpoint is of an age when positions were stored.
        positions = torch.arange(config.max_position_embeddings).expand((1, -1))
        self.embeddings.position_ids = nn.Buffer(positions, persistent=True)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return embeddings, [batch, hidden], for tokens and mask of [batch, seq]."""
        hidden = super().forward(input_ids, attention_mask).last_hidden_state
        weight = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean: torch.Tensor = (hidden * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1e-9)
        return mean


def build(**config: Any) -> nn.Module:  # noqa: ANN401
    """Return the encoder for a BERT configuration."""
    return SentenceEncoder(BertConfig(**config))
