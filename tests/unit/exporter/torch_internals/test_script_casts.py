"""Casts by methods that torch.jit.script lacks: the same as in Python."""

# mypy: ignore-errors

from __future__ import annotations

import torch

from modelexport_exporter.torch_internals.script_annotations import readable_signatures


def masked(x, mask):  # noqa: ANN001
    return torch.where(mask.bool() & (x > 0).bool(), x, 0.0).bfloat16()


def test_as_python() -> None:
    with readable_signatures({}):
        script = torch.jit.script(masked)
    x, mask = torch.randn(3, 4), torch.tensor([0, 1, 1, 0])
    assert script(x, mask).dtype is torch.bfloat16
    assert torch.equal(script(x, mask), masked(x, mask))
