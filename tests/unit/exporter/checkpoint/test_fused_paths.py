"""Encoders of which eager PyTorch has two paths are named."""

from __future__ import annotations

import torch

from modelexport_exporter.checkpoint.fused_paths import fused_paths


def encoder(*, nested: bool) -> torch.nn.Module:
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=nested)


def test_an_encoder_that_packs_its_input_is_named() -> None:
    module = torch.nn.ModuleDict({"encoder": encoder(nested=True), "other": encoder(nested=False)})
    found = list(fused_paths(module))
    assert [finding.subject for finding in found] == ["encoder"]
    assert "returns 0 at padded places" in found[0].obtained


def test_the_paths_differ() -> None:
    """What the finding says, measured: it goes when torch changes this."""
    torch.manual_seed(1)
    module, x = encoder(nested=True).eval(), torch.randn(1, 3, 8)
    mask = torch.tensor([[False, False, True]])
    results = []
    before = torch.backends.mha.get_fastpath_enabled()
    for enabled in (True, False):
        torch.backends.mha.set_fastpath_enabled(enabled)
        with torch.no_grad():
            results.append(module(x, src_key_padding_mask=mask))
    torch.backends.mha.set_fastpath_enabled(before)
    torch.testing.assert_close(results[0][:, :2], results[1][:, :2])
    assert (results[0][:, 2] == 0).all()
    assert (results[1][:, 2] != 0).any()
