"""oneDNN's fused kernels, switched off alone.

torch.backends.mkldnn.flags is public, but resets determinism, TF32 and precision as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def without_one_dnn() -> Iterator[None]:
    """Compute without oneDNN while the block runs."""
    before = torch.backends.mkldnn.set_flags(_enabled=False)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        torch.backends.mkldnn.set_flags(_enabled=before[0])  # type: ignore[no-untyped-call]
