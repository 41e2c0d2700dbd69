"""The networks that are measured. This file alone is `model.code`: it imports nothing of ours."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention, silu


def cnn() -> nn.Module:
    """Return ResNet-18: 47 MB of weights."""
    from torchvision.models import resnet18

    network: nn.Module = resnet18()
    return network


def digits() -> nn.Module:
    """Return the network of examples/digits, from examples/digits/model.py: 0.02 MB."""
    from model import build

    network: nn.Module = build()
    return network


class Encoder(nn.Module):
    """BERT's last hidden state."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import BertConfig, BertModel

        self.bert = BertModel(BertConfig(), add_pooling_layer=False)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return [batch, seq, 768] for tokens and mask of [batch, seq]."""
        hidden: torch.Tensor = self.bert(input_ids, attention_mask).last_hidden_state
        return hidden


def encoder() -> nn.Module:
    """Return an encoder of the size of BERT-base: 0.44 GB of weights."""
    return Encoder()


class Block(nn.Module):
    """Causal attention and a gated feed-forward network, each behind an RMSNorm."""

    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1 = nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.norm_2 = nn.RMSNorm(width)
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return x of [batch, seq, width] after attention and feed-forward."""
        heads = self.qkv(self.norm_1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        attended = scaled_dot_product_attention(heads[0], heads[1], heads[2], is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(-2))
        hidden = self.norm_2(x)
        result: torch.Tensor = x + self.down(silu(self.gate(hidden)) * self.up(hidden))
        return result


class Decoder(nn.Module):
    """A decoder-only language model."""

    def __init__(self, vocabulary: int, width: int, depth: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(
            Block(width, width // 64, 11 * width // 4) for _ in range(depth)
        )
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Return logits, [batch, seq, vocabulary], for tokens of [batch, seq]."""
        x = self.embed(input_ids)
        for block in self.blocks:
            x = block(x)
        logits: torch.Tensor = self.head(self.norm(x))
        return logits


def decoder() -> nn.Module:
    """Return a decoder of 271 million parameters: 1.1 GB of weights."""
    return Decoder(vocabulary=32_000, width=1024, depth=16)
