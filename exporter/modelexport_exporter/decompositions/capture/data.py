"""`x.data`, which torch.export takes for a constant: what is written into it is a part of x."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import Replacements, Result

CALLS = Replacements()


_DATA: Any = torch.Tensor.data
"""The property, whose getter and setter torch passes on as the functions that are called."""


@CALLS.replaces("data", _DATA.__get__)
def data(x: Tensor) -> Result:
    return x.detach()


@CALLS.replaces("set_data", _DATA.__set__)
def set_data(x: Tensor, value: Tensor) -> Result:
    if isinstance(x, torch.nn.Parameter) or (x.shape, x.dtype) != (value.shape, value.dtype):
        return NotImplemented
    x.detach().copy_(value)
    return None
