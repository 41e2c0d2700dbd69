"""flex_attention is captured at all sizes, and computes what torch computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch._higher_order_ops.flex_attention import math_attention
from torch.nn.attention import flex_attention as torchs
from torch.nn.attention.flex_attention import (
    AuxRequest,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
)

from modelexport_exporter.decompositions.capture.flexible_attention import (
    attention_of_changed_scores,
)
from modelexport_exporter.torch_internals import flexible_attention
from modelexport_exporter.torch_internals.flexible_attention import (
    compute_flexible_attention_eagerly,
)
from unit.exporter.torch_internals.exporting import exported

HEADS, SIZE = 4, 3
SLOPES = 2.0 ** -torch.arange(1, 1 + HEADS)
OFFSETS = torch.linspace(-1, 1, HEADS * 17).view(HEADS, 17)


def causal(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
    return q >= k


def in_window(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
    return (q - k).abs() <= 2


def none_for_the_first(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
    return q > k


def by_offset(score: Tensor, b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
    return score + SLOPES[h] * (k - q) + OFFSETS[h, (q - k).clamp(-8, 8) + 8]


class Attention(nn.Module):
    def attend(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        return self.attend(x.view(*x.shape[:2], HEADS, SIZE).transpose(1, 2))


class Plain(Attention):
    def attend(self, x: Tensor) -> Tensor:
        return flex_attention(x, 2 * x, x)


class Causal(Attention):
    def attend(self, x: Tensor) -> Tensor:
        n = x.shape[2]
        kept = create_block_mask(causal, None, None, n, n, device="cpu")
        return flex_attention(x, 2 * x, x, block_mask=kept)


class Grouped(Attention):
    def attend(self, x: Tensor) -> Tensor:
        few = x[:, :2]
        return flex_attention(x, few, few, by_offset, enable_gqa=True)


class OfDocuments(Attention):
    """The functions read tensors that depend on the input, by rows of the batch."""

    def attend(self, x: Tensor) -> Tensor:
        documents = (x[:, 0, :, 0] > 0).long()

        def same(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
            return documents[b, q] == documents[b, k]

        kept = create_block_mask(
            and_masks(same, in_window), x.shape[0], None, x.shape[2], x.shape[2], device="cpu"
        )
        return flex_attention(x, x, x, block_mask=kept)


class WithSums(Attention):
    def attend(self, x: Tensor) -> Tensor:
        n = x.shape[2]
        kept = create_block_mask(none_for_the_first, None, None, n, n, device="cpu")
        request = AuxRequest(lse=True)
        result, more = flex_attention(x, x, x, block_mask=kept, return_aux=request)
        assert more.lse is not None
        return torch.cat([result, more.lse[..., None].nan_to_num(neginf=-9.0)], -1)


class Dense(Attention):
    def attend(self, x: Tensor) -> Tensor:
        n = x.shape[2]
        kept = create_mask(in_window, None, None, n, n, device="cpu")
        scored = create_mask(by_offset, 1, HEADS, n, n, device="cpu")
        return F.scaled_dot_product_attention(x, x, x, kept & scored)


@pytest.fixture(autouse=True)
def torchs_own() -> Iterator[None]:
    """Leave torch as it was; its own operator runs as it is written."""
    before = dict(vars(torchs))
    compute_flexible_attention_eagerly()
    assert vars(torchs)["flex_attention_hop"] is math_attention
    yield
    vars(torchs).update(before)


@pytest.mark.parametrize("make", [Plain, Causal, Grouped, OfDocuments, WithSums, Dense])
def test_it_is_torchs_at_all_sizes(make: Callable[[], nn.Module]) -> None:
    module = make()
    x = torch.randn(2, 6, HEADS * SIZE, generator=torch.Generator().manual_seed(0))
    dims = {0: torch.export.Dim("b", max=9), 1: torch.export.Dim("n", max=300)}
    with attention_of_changed_scores():
        program = exported(module, x, dims)
    assert not [node for node in program.graph.nodes if "flex" in node.name]
    for batch, n in ((2, 6), (3, 2), (2, 260)):
        x = torch.randn(batch, n, HEADS * SIZE)
        torch.testing.assert_close(program.module()(x), module(x))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_it_computes_in_torchs_dtype(dtype: torch.dtype) -> None:
    x = torch.randn(2, HEADS, 9, SIZE, generator=torch.Generator().manual_seed(0)).to(dtype)
    with attention_of_changed_scores():
        found = flex_attention(x, x, x, by_offset)
    wanted = flex_attention(x, x, x, by_offset)
    assert isinstance(found, Tensor)
    assert found.dtype == dtype
    torch.testing.assert_close(found, wanted)


def test_nothing_is_imported_for_models_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flexible_attention, "_MODULE", "torch.nn.attention.never_imported")
    before = dict(vars(torchs))
    compute_flexible_attention_eagerly()
    with attention_of_changed_scores():
        assert dict(vars(torchs)) == before
