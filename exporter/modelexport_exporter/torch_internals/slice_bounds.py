"""Bounds of slices whose side of zero, or of the end, depends on sizes.

torch.export gives such a slice a size of which it knows nothing, as if values decided it: the
first `if` on that size then ends the capture. The bound is an expression of known sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch._subclasses import fake_impls
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

_own = fake_impls._compute_slice_index  # noqa: SLF001


def _bound(size: Any, index: Any) -> Any:  # noqa: ANN401
    """Return where a slice begins or ends; None where values of tensors decide."""
    found = _own(size, index)
    if found is not None or free_unbacked_symbols([size, index]):
        return found
    from_begin = torch.sym_min(torch.sym_max(index, 0), size)
    from_end = torch.sym_max(index + size, 0)
    is_negative = torch.sym_min(torch.sym_max(-index, 0), 1)
    return from_begin + is_negative * from_end


@contextmanager
def slices_of_known_sizes() -> Iterator[None]:
    """Let torch.export compute the bounds of slices from sizes, while the block runs."""
    with patch.object(fake_impls, "_compute_slice_index", _bound):
        yield
