"""Capturing torch.nn's transformers, whose masks are values."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.modules import transformer

from modelexport_exporter.torch_internals.attention_masks import accept_masks_as_given


class Masked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 8, 0.0)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.encoder(x, mask=mask)
        return states


def test_captured_encoder_uses_any_mask() -> None:
    model = Masked().eval()
    x, causal = torch.randn(5, 2, 8), torch.triu(torch.full((5, 5), float("-inf")), 1)
    with torch.no_grad(), accept_masks_as_given():
        captured = torch.export.export(model, (x, causal)).module()

    for mask in (causal, torch.zeros(5, 5), causal.T):
        assert torch.allclose(captured(x, mask), model(x, mask), atol=1e-5)


def test_callers_hint_is_used() -> None:
    with accept_masks_as_given():
        assert transformer._detect_is_causal_mask(None, True)
        assert not transformer._detect_is_causal_mask(torch.zeros(1, 1))
    assert transformer._detect_is_causal_mask(torch.zeros(1, 1), None, 1)
