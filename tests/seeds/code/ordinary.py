"""Models as users write them, which must be exported: masks, sizes computed in ordinary ways."""

from __future__ import annotations

from torch import Tensor, nn


class MaskedEncoder(nn.Module):
    """Tokens and a mask of padding, through torch's own encoder with its defaults."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)

    def forward(self, ids: Tensor) -> Tensor:
        padding = ids == 0
        hidden = self.encoder(self.embedding(ids), src_key_padding_mask=padding)
        kept = (~padding).unsqueeze(-1).to(hidden.dtype)
        return (hidden * kept).sum(1) / kept.sum(1).clamp(min=1.0)
