"""Keeps torch.nn's transformers from looking at the values of their mask.

nn.TransformerEncoder and -Decoder compare a mask with the causal one, to hand attention a hint that
makes it faster: a branch on data, which torch.export cannot capture and a trace bakes in. Without
the hint attention uses the mask itself, whatever it holds, and computes the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from torch.nn.modules import transformer


@contextmanager
def masks_taken_as_given() -> Iterator[None]:
    """Take only the hint that the caller gives."""

    def causal(_mask: object, is_causal: bool | None = None, _size: int | None = None) -> bool:
        return is_causal is True

    with patch.object(transformer, "_detect_is_causal_mask", causal):
        yield
