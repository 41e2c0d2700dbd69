"""Modules of which eager PyTorch has a second path, with other results than the exported one."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from modelexport_exporter.core.types import ContractFinding


def fused_paths(module: torch.nn.Module) -> Iterator[ContractFinding]:
    """Yield a finding for each encoder that may take its fused path.

    torch 2.15: `nn.TransformerEncoder` with a padding mask, in eval mode and without gradients,
    packs its input into nested tensors and returns 0 at padded places.
    """
    for name, part in module.named_modules():
        if isinstance(part, torch.nn.TransformerEncoder) and part.use_nested_tensor:
            yield ContractFinding(
                subject=name or type(part).__name__,
                requested="the results of nn.TransformerEncoder",
                obtained=(
                    "those of its ordinary path: with a padding mask and without gradients, its "
                    "fused path (torch.backends.mha) returns 0 at padded places"
                ),
            )
