"""TF32 switched off, also where user code has frozen the flags of torch.backends.

torch's own testing modules freeze them when they are imported; assigning one raises then.
"""

from __future__ import annotations

import torch


def forbid_tf32() -> None:
    """Compute float32 products and convolutions of a GPU in float32, as onnxruntime does."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.set_flags(_allow_tf32=False)  # type: ignore[no-untyped-call]
