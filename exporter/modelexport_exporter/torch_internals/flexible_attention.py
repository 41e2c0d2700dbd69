"""Compute `torch.nn.attention.flex_attention` by functions, in the place of torch's own operator.

torch compiles the operator at each call, which raises while the verification watches the calls of a
model. Its checks, its defaults and the values that it returns stay torch's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

_MODULE = "torch.nn.attention.flex_attention"
_OPERATOR, _NOT_COMPILED = "flex_attention_hop", "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"


def compute_flexible_attention_eagerly() -> None:
    """From now on, compute it by the function that torch compiles, if it was imported."""
    module = sys.modules.get(_MODULE)
    if module is not None:
        from torch._higher_order_ops.flex_attention import math_attention

        setattr(module, _OPERATOR, math_attention)
        setattr(module, _NOT_COMPILED, True)


@contextmanager
def flexible_attention_by(
    attention: Callable[..., Any], mask: Callable[..., Any]
) -> Iterator[None]:
    """Call `attention` instead of the operator, and `mask` instead of torch's `create_mask`.

    Both have the arguments of what they replace. A block mask has one block of any size: torch's
    own kernel skips blocks, whose number depends on sizes.
    """
    module = sys.modules.get(_MODULE)
    if module is None:
        yield
        return
    own: dict[str, Any] = {
        _OPERATOR: attention,
        _NOT_COMPILED: True,
        "create_mask": mask,
        "_convert_mask_to_block_mask": lambda dense, **_: (dense, None),
        "_create_sparse_block_from_block_mask": _of_one_block,
    }
    with patch.multiple(module, **own):
        yield


def _of_one_block(blocks: tuple[Tensor, None], function: object, lengths: object, *_: int) -> Any:  # noqa: ANN401
    flexible = sys.modules[_MODULE]
    batch, device = blocks[0].shape[0], blocks[0].device
    return flexible.BlockMask.from_kv_blocks(
        torch.ones([batch, 1, 1], dtype=torch.int32, device=device),
        torch.zeros([batch, 1, 1, 1], dtype=torch.int32, device=device),
        BLOCK_SIZE=flexible._LARGE_SPARSE_BLOCK_SIZE,  # noqa: SLF001
        mask_mod=function,
        seq_lengths=lengths,
    )
