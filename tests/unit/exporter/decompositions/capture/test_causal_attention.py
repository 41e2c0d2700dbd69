"""Attention whose `is_causal` is a condition on a size."""

from __future__ import annotations

import sys

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from modelexport_exporter.decompositions.capture.causal_attention import attention_causal_by_size
from unit.exporter.torch_internals.exporting import exported

X = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(0))


class Causal(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(x, 2 * x, x, is_causal=x.shape[1] > 3)


class Imported(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return scaled_dot_product_attention(x, x[:, 1:], x[:, 1:], is_causal=x.shape[1] > 3)


class Masked(nn.Module):
    """HF's `is_causal = length > 1 and mask is None` is the first operand where that is false."""

    def forward(self, x: Tensor) -> Tensor:
        mask = x[:, :, :1] > -9
        return F.scaled_dot_product_attention(x, x, x, mask, is_causal=x.shape[1] > 99)


@pytest.mark.parametrize("module", [Causal(), Imported(), Masked()])
def test_it_is_eagers_at_all_sizes(module: nn.Module) -> None:
    with attention_causal_by_size([sys.modules[__name__]]):
        program = exported(module, X, {1: torch.export.Dim("n", min=2, max=9)})
    for n in (2, 3, 4, 9):
        x = torch.randn(2, n, 4)
        torch.testing.assert_close(program.module()(x), module(x))


def test_a_bool_is_left_to_torch() -> None:
    plain = F.scaled_dot_product_attention
    with attention_causal_by_size([]):
        assert F.scaled_dot_product_attention is not plain
        want = plain(X, X, X, is_causal=True)
        assert torch.equal(F.scaled_dot_product_attention(X, X, X, is_causal=True), want)
    assert F.scaled_dot_product_attention is plain
