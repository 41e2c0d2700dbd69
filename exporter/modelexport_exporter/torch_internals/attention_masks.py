"""Keep torch.nn's transformers from reading the values of their mask.

nn.TransformerEncoder and nn.TransformerDecoder compare a mask with the causal one, to give
attention a hint that makes it faster. That is a branch on data: torch.export cannot capture it, and
a trace fixes it. Without the hint, attention uses the values of the mask and computes the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from torch.nn.modules import transformer


@contextmanager
def accept_masks_as_given() -> Iterator[None]:
    """Use only the hint that the caller gives, while the block runs."""

    def causal(_mask: object, is_causal: bool | None = None, _size: int | None = None) -> bool:
        return is_causal is True

    with patch.object(transformer, "_detect_is_causal_mask", causal):
        yield
