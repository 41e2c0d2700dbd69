"""Functions of torch.nn as the operators below them, which captures and traces record.

The public functions of these names are Python: pools choose between two operators, or read sizes;
those of packed sequences sort the sequences before and after.
"""

from __future__ import annotations

import torch

max_pool2d_with_indices = torch._C._nn.max_pool2d_with_indices  # noqa: SLF001
max_pool3d_with_indices = torch._C._nn.max_pool3d_with_indices  # noqa: SLF001
adaptive_avg_pool2d = torch._C._nn.adaptive_avg_pool2d  # noqa: SLF001
adaptive_avg_pool3d = torch._C._nn.adaptive_avg_pool3d  # noqa: SLF001
adaptive_max_pool2d = torch._C._nn.adaptive_max_pool2d  # noqa: SLF001
adaptive_max_pool3d = torch._C._nn.adaptive_max_pool3d  # noqa: SLF001
pack_padded_sequence = torch._VF._pack_padded_sequence  # noqa: SLF001
pad_packed_sequence = torch._VF._pad_packed_sequence  # noqa: SLF001
AdaptiveSoftmaxResult = torch.nn.modules.adaptive._ASMoutput  # noqa: SLF001
