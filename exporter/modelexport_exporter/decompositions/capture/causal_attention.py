"""Attention that is causal for some sizes, `is_causal=length > 1`: torch takes a bool only.

No mode sees the call, since torch refuses its argument before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

import torch
import torch.nn.functional as F  # noqa: N812
from torch import SymBool, Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from modelexport_exporter.torch_internals.names_of_modules import replaced_in

_plain = F.scaled_dot_product_attention


@contextmanager
def attention_causal_by_size(modules: Sequence[ModuleType]) -> Iterator[None]:
    """Let attention take a condition on sizes, also by the names that these modules have for it."""
    with replaced_in((F, *modules), _plain, scaled_dot_product_attention):
        yield


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool | SymBool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return the attention; a condition on sizes becomes a mask of the places that may be seen."""
    if isinstance(is_causal, SymBool):
        if attn_mask is not None or statically_known_true(is_causal):
            is_causal = bool(is_causal)  # with a mask it has to be false
        else:
            attn_mask, is_causal = _mask(query, key, is_causal), False
    return _plain(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


def _mask(query: Tensor, key: Tensor, is_causal: SymBool) -> Tensor:
    """Return bool [queries, keys]: the lower triangle where attention is causal, else all."""
    places = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device)
    every = torch.scalar_tensor(torch.sym_ite(is_causal, 0, 1), dtype=torch.int64)
    return places.tril() | every.to(query.device).bool()
