"""The word-level language model of PyTorch's examples, small: RNN, LSTM, GRU and Transformer."""

from __future__ import annotations

import math

import torch
from torch import nn

TOKENS = 50


class RecurrentModel(nn.Module):
    """Encoder, recurrent layers and decoder; returns log probabilities and the hidden state."""

    def __init__(self, kind: str, width: int = 16, hidden: int = 24, layers: int = 2) -> None:
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.encoder = nn.Embedding(TOKENS, width)
        self.rnn: nn.RNNBase
        if kind == "LSTM":
            self.rnn = nn.LSTM(width, hidden, layers, dropout=0.5)
        elif kind == "GRU":
            self.rnn = nn.GRU(width, hidden, layers, dropout=0.5)
        else:
            nonlinearity = {"RNN_TANH": "tanh", "RNN_RELU": "relu"}[kind]
            self.rnn = nn.RNN(width, hidden, layers, nonlinearity=nonlinearity, dropout=0.5)
        self.decoder = nn.Linear(hidden, TOKENS)

    def forward(
        self, tokens: torch.Tensor, h: torch.Tensor, c: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, ...]:
        embedded = self.drop(self.encoder(tokens))
        output, state = self.rnn(embedded, h if c is None else (h, c))
        decoded = self.decoder(self.drop(output)).view(-1, TOKENS)
        log_probabilities = nn.functional.log_softmax(decoded, dim=1)
        return (log_probabilities, state) if c is None else (log_probabilities, *state)


class PositionalEncoding(nn.Module):
    pe: torch.Tensor

    def __init__(self, width: int, longest: int = 64) -> None:
        super().__init__()
        position = torch.arange(longest, dtype=torch.float).unsqueeze(1)
        step = torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))
        table = torch.stack([torch.sin(position * step), torch.cos(position * step)], 2)
        self.register_buffer("pe", table.flatten(1).unsqueeze(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.pe[: x.size(0)]


class TransformerModel(nn.Module):
    """Builds its causal mask from the length of the input, and keeps it on self, as the example."""

    def __init__(self, width: int = 16, heads: int = 2, hidden: int = 24, layers: int = 2) -> None:
        super().__init__()
        self.src_mask: torch.Tensor | None = None
        self.pos_encoder = PositionalEncoding(width)
        layer = nn.TransformerEncoderLayer(width, heads, hidden, 0.2)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.input_emb = nn.Embedding(TOKENS, width)
        self.width = width
        self.decoder = nn.Linear(width, TOKENS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        if self.src_mask is None or self.src_mask.size(0) != len(tokens):
            self.src_mask = torch.log(torch.tril(torch.ones(len(tokens), len(tokens))))
        x = self.pos_encoder(self.input_emb(tokens) * math.sqrt(self.width))
        decoded = self.decoder(self.encoder(x, mask=self.src_mask))
        return nn.functional.log_softmax(decoded, dim=-1)


def recurrent(kind: str) -> nn.Module:
    return RecurrentModel(kind)


def transformer() -> nn.Module:
    return TransformerModel()
