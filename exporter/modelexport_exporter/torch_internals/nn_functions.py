"""Pools of torch.nn.functional as the operators that the tracer records.

The public functions of these names are Python: they choose between two operators, or read sizes.
"""

from __future__ import annotations

import torch

max_pool2d_with_indices = torch._C._nn.max_pool2d_with_indices  # noqa: SLF001
max_pool3d_with_indices = torch._C._nn.max_pool3d_with_indices  # noqa: SLF001
adaptive_avg_pool2d = torch._C._nn.adaptive_avg_pool2d  # noqa: SLF001
adaptive_avg_pool3d = torch._C._nn.adaptive_avg_pool3d  # noqa: SLF001
adaptive_max_pool2d = torch._C._nn.adaptive_max_pool2d  # noqa: SLF001
adaptive_max_pool3d = torch._C._nn.adaptive_max_pool3d  # noqa: SLF001
